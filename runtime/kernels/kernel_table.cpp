#include <algorithm>
#include <vector>

#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {
namespace {

std::vector<KernelDef> BuildTable() {
  std::vector<KernelDef> table;
  for (const auto family : {
           ElementwiseKernels(),  CastKernels(),        ReductionKernels(), NormalizationKernels(),
           DataMovementKernels(), GatherKernels(),      IndexKernels(),     GeneratorKernels(),
           MatMulKernels(),       ConvolutionKernels(), PoolingKernels(),   ResizeKernels(),
           VisionKernels(),       EinsumKernels(),      SelectionKernels(), SignalKernels(),
           RecurrentKernels(),    QuantizedKernels(),   MlKernels(),        PackedKernels(),
           AttentionKernels(),    RowKernelDefs(),      LossKernels(),      RandomKernels(),
           TreeKernels(),         FusedKernels(),       BlockedKernels(),
       }) {
    table.insert(table.end(), family.begin(), family.end());
  }
  std::sort(table.begin(), table.end(),
            [](const KernelDef& a, const KernelDef& b) { return a.name < b.name; });
  return table;
}

}  // namespace

std::span<const KernelDef> AllKernels() {
  static const std::vector<KernelDef> table = BuildTable();
  return table;
}

const KernelDef* FindKernel(std::string_view name) {
  const auto table = AllKernels();
  const auto at =
      std::lower_bound(table.begin(), table.end(), name,
                       [](const KernelDef& d, std::string_view n) { return d.name < n; });
  return at != table.end() && at->name == name ? &*at : nullptr;
}

}  // namespace poprt::kernels
