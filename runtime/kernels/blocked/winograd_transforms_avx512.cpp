#include "runtime/kernels/blocked/winograd_transforms_impl.hpp"
#include "runtime/kernels/packed/vector_avx512.hpp"

namespace poprt::kernels {

constexpr WinogradTransforms kAvx512Winograd2 = winograd::kTransforms<Avx512, 2>;
constexpr WinogradTransforms kAvx512Winograd4 = winograd::kTransforms<Avx512, 4>;

}  // namespace poprt::kernels
