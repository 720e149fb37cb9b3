#include "runtime/kernels/packed/tile_kernels_impl.hpp"
#include "runtime/kernels/packed/vector_avx512.hpp"

namespace poprt::kernels {

constexpr TileKernels kAvx512TileKernels = tile::kKernels<Avx512>;

}  // namespace poprt::kernels
