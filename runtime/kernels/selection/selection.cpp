#include "runtime/kernels/selection/selection.hpp"

#include <array>

#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_binding.hpp"

namespace poprt::kernels {

std::span<const KernelDef> SelectionKernels() {
  static constexpr std::array<KernelDef, 4> kKernels{{
      {"Compress", GuardedBind<BindCompress>},
      {"NonMaxSuppression", GuardedBind<BindNonMaxSuppression>},
      {"NonZero", GuardedBind<BindNonZero>},
      {"Unique", GuardedBind<BindUnique>},
  }};
  return kKernels;
}

}  // namespace poprt::kernels
