#include <algorithm>

#include "compiler/ipu/plan/operation.hpp"

/// Operators that leave every element where it is. What needs another order pays for it.
namespace poprt::ipu {
namespace {

Placed View(const Placed& x, const TensorType& type, const Layout& layout) {
  return {type, layout, x.constant, x.overwrite, x.origin};
}

void ExpandReshape(Operation& operation) {
  const Placed& x = operation.input(0);
  operation.SetOutput(0, View(x, operation.output_type(0), x.layout));
}

/// poplar's dimShuffle: the same memory seen in another order.
void ExpandTranspose(Operation& operation) {
  const Placed& x = operation.input(0);
  const std::size_t rank = x.type.shape.size();
  Ints permutation = operation.node().attributes.get_ints("perm");
  if (permutation.size() != rank) {
    permutation.resize(rank);
    for (std::size_t i = 0; i < rank; ++i) {
      permutation[i] = static_cast<std::int64_t>(rank - 1 - i);
    }
  }
  operation.SetOutput(
      0, View(x, operation.output_type(0), TransposedLayout(x.layout, x.type.shape, permutation)));
}

constexpr ExpandRow kRows[] = {
    {"Identity", ExpandReshape}, {"Reshape", ExpandReshape},     {"Flatten", ExpandReshape},
    {"Squeeze", ExpandReshape},  {"Unsqueeze", ExpandReshape},   {"Dropout", ExpandReshape},
    {"BitCast", ExpandReshape},  {"Transpose", ExpandTranspose},
};

}  // namespace

std::span<const ExpandRow> ViewRules() { return kRows; }

}  // namespace poprt::ipu
