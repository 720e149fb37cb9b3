#include "runtime/kernels/blocked/winograd_transforms_impl.hpp"
#include "runtime/kernels/packed/vector_avx512.hpp"

namespace poprt::kernels {

constexpr WinogradTiles kAvx512Winograd = winograd::kTiles<Avx512>;

}  // namespace poprt::kernels
