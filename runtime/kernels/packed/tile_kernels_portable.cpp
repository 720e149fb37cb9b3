#include "runtime/kernels/packed/tile_kernels_impl.hpp"
#include "runtime/kernels/packed/vector_portable.hpp"

namespace poprt::kernels {

constexpr TileKernels kPortableTileKernels = tile::kKernels<Portable>;

}  // namespace poprt::kernels
