#include "runtime/kernels/blocked/winograd_transforms_impl.hpp"
#include "runtime/kernels/packed/vector_avx2.hpp"

namespace poprt::kernels {

constexpr WinogradTransforms kAvx2Winograd2 = winograd::kTransforms<Avx2, 2>;
constexpr WinogradTransforms kAvx2Winograd4 = winograd::kTransforms<Avx2, 4>;

}  // namespace poprt::kernels
