#include "runtime/kernels/packed/tile_kernels_impl.hpp"
#include "runtime/kernels/packed/vector_avx2.hpp"

namespace poprt::kernels {

constexpr TileKernels kAvx2TileKernels = tile::kKernels<Avx2>;

}  // namespace poprt::kernels
