#include <algorithm>
#include <vector>

#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {
namespace {

/// The tuned ones first: most steps of a program are theirs.
constexpr std::span<const KernelDef> (*kFamilies[])() = {
    PackedKernels,       BlockedKernels,     AttentionKernels,     RowKernelDefs,
    FusedKernels,        ElementwiseKernels, CastKernels,          ReductionKernels,
    DataMovementKernels, GatherKernels,      NormalizationKernels, IndexKernels,
    GeneratorKernels,    MatMulKernels,      ConvolutionKernels,   PoolingKernels,
    ResizeKernels,       VisionKernels,      EinsumKernels,        SelectionKernels,
    SignalKernels,       RecurrentKernels,   QuantizedKernels,     MlKernels,
    LossKernels,         RandomKernels,      TreeKernels};

}  // namespace

std::vector<KernelDef> AllKernels() {
  std::vector<KernelDef> table;
  for (const auto family : kFamilies) {
    const auto kernels = family();
    table.insert(table.end(), kernels.begin(), kernels.end());
  }
  std::ranges::sort(table, {}, &KernelDef::name);
  return table;
}

// A sorted table of all would be found faster, but loading a program of a few kernels would touch
// the code of all families, which is most of the time that it takes.
const KernelDef* FindKernel(std::string_view name) {
  for (const auto family : kFamilies) {
    const auto kernels = family();
    const auto at = std::ranges::find(kernels, name, &KernelDef::name);
    if (at != kernels.end()) return &*at;
  }
  return nullptr;
}

}  // namespace poprt::kernels
