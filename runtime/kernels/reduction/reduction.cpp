#include "runtime/kernels/reduction/reduction.hpp"

#include <vector>

#include "runtime/kernels/families.hpp"

namespace poprt::kernels {

std::span<const KernelDef> ReductionKernels() {
  static const std::vector<KernelDef> kernels = [] {
    std::vector<KernelDef> all;
    for (const auto part : {ReduceKernels(), ArgReduceKernels(), CumulativeKernels()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return kernels;
}

}  // namespace poprt::kernels
