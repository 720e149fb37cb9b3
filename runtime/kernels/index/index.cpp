#include "runtime/kernels/index/index.hpp"

#include <array>

#include "runtime/kernels/families.hpp"

namespace poprt::kernels {

std::span<const KernelDef> IndexKernels() {
  static constexpr std::array<KernelDef, 3> kKernels{{
      {"OneHot", BindOneHot},
      {"TopK", BindTopK},
      {"Trilu", BindTrilu},
  }};
  return kKernels;
}

}  // namespace poprt::kernels
