#include "runtime/kernels/blocked/winograd_transforms_impl.hpp"
#include "runtime/kernels/packed/vector_avx2.hpp"

namespace poprt::kernels {

constexpr WinogradKernels kAvx2Winograd = winograd::kKernels<Avx2>;

}  // namespace poprt::kernels
