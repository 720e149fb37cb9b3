#include "runtime/kernels/normalization/normalization.hpp"

#include <vector>

#include "runtime/kernels/families.hpp"

namespace poprt::kernels {

std::span<const KernelDef> NormalizationKernels() {
  static const std::vector<KernelDef> kernels = [] {
    std::vector<KernelDef> all;
    for (const auto part : {AxisNormalizationKernels(), LayerNormalizationKernels(),
                            ChannelNormalizationKernels(), MeanVarianceKernels()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return kernels;
}

}  // namespace poprt::kernels
