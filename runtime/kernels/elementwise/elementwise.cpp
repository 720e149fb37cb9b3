#include "runtime/kernels/elementwise/elementwise.hpp"

#include <vector>

#include "runtime/kernels/families.hpp"

namespace poprt::kernels {

std::span<const KernelDef> ElementwiseKernels() {
  static const std::vector<KernelDef> kernels = [] {
    std::vector<KernelDef> all;
    for (const auto part : {UnaryKernels(), ActivationKernels(), ArithmeticKernels(),
                            LogicKernels(), ExtremumKernels()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return kernels;
}

}  // namespace poprt::kernels
