#include "runtime/kernels/blocked/winograd_transforms_impl.hpp"
#include "runtime/kernels/packed/vector_portable.hpp"

namespace poprt::kernels {

constexpr WinogradKernels kPortableWinograd = winograd::kKernels<Portable>;

}  // namespace poprt::kernels
