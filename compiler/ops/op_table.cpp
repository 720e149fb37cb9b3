#include <algorithm>
#include <vector>

#include "compiler/ops/families.hpp"
#include "compiler/ops/op.hpp"

namespace poprt::ops {
namespace {

std::vector<OpDef> BuildTable() {
  std::vector<OpDef> table;
  for (const auto family : {
           ElementwiseOps(), ReductionOps(), NormalizationOps(), ShapeOps(),  DataMovementOps(),
           GatherOps(),      IndexOps(),     GeneratorOps(),     MatMulOps(), ConvolutionOps(),
           PoolingOps(),     ResizeOps(),    VisionOps(),        EinsumOps(), SelectionOps(),
           SignalOps(),      RecurrentOps(), QuantizationOps(),  MlOps(),     LossOps(),
           RandomOps(),      TreeOps(),      ControlFlowOps(),
       }) {
    table.insert(table.end(), family.begin(), family.end());
  }
  std::sort(table.begin(), table.end(),
            [](const OpDef& a, const OpDef& b) { return a.name < b.name; });
  return table;
}

}  // namespace

std::span<const OpDef> AllOps() {
  static const std::vector<OpDef> table = BuildTable();
  return table;
}

const OpDef* FindOp(std::string_view name) {
  const auto table = AllOps();
  const auto at =
      std::lower_bound(table.begin(), table.end(), name,
                       [](const OpDef& op, std::string_view wanted) { return op.name < wanted; });
  return at != table.end() && at->name == name ? &*at : nullptr;
}

}  // namespace poprt::ops
