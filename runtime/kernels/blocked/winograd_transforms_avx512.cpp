#include "runtime/kernels/blocked/winograd_transforms_impl.hpp"
#include "runtime/kernels/packed/vector_avx512.hpp"

namespace poprt::kernels {

constexpr WinogradKernels kAvx512Winograd = winograd::kKernels<Avx512>;

}  // namespace poprt::kernels
