#include <algorithm>
#include <optional>

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

/// poplar's slice: the same memory, of which one part is seen.
void ExpandSlice(Operation& operation) {
  const Placed& x = operation.input(0);
  const TensorType& type = operation.output_type(0);
  const Attributes& attributes = operation.node().attributes;
  const Ints starts = attributes.get_ints("starts");
  const Ints axes = attributes.get_ints("axes");
  const Ints strides = attributes.get_ints("steps");
  std::vector<AxisPart> parts(type.shape.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto axis = i < axes.size() ? NormalizeAxis(axes[i], type.shape.size())
                                      : std::optional(static_cast<std::int64_t>(i));
    if (!axis || static_cast<std::size_t>(*axis) >= parts.size()) continue;
    const std::int64_t extent = x.type.shape[static_cast<std::size_t>(*axis)];
    const std::int64_t start =
        starts[i] < 0 ? std::max<std::int64_t>(starts[i] + extent, 0) : std::min(starts[i], extent);
    parts[static_cast<std::size_t>(*axis)] = {.first = static_cast<std::uint64_t>(start),
                                              .in_order = i >= strides.size() || strides[i] == 1};
  }
  operation.SetOutput(0, View(x, type, PartLayout(x, type, parts)));
}

void ExpandSplit(Operation& operation) {
  const Placed& x = operation.input(0);
  const auto axis =
      NormalizeAxis(operation.node().attributes.get_int("axis", 0), x.type.shape.size());
  std::uint64_t first = 0;
  for (std::size_t i = 0; axis && i < operation.output_count(); ++i) {
    if (!operation.has_output(i)) continue;
    const TensorType& type = operation.output_type(i);
    std::vector<AxisPart> parts(type.shape.size());
    parts[static_cast<std::size_t>(*axis)].first = first;
    operation.SetOutput(i, View(x, type, PartLayout(x, type, parts)));
    first += static_cast<std::uint64_t>(type.shape[static_cast<std::size_t>(*axis)]);
  }
}

constexpr ExpandRow kRows[] = {
    {"Slice", ExpandSlice},         {"Split", ExpandSplit},     {"Identity", ExpandReshape},
    {"Reshape", ExpandReshape},     {"Flatten", ExpandReshape}, {"Squeeze", ExpandReshape},
    {"Unsqueeze", ExpandReshape},   {"Dropout", ExpandReshape}, {"BitCast", ExpandReshape},
    {"Transpose", ExpandTranspose},
};

}  // namespace

std::span<const ExpandRow> ViewRules() { return kRows; }

}  // namespace poprt::ipu
