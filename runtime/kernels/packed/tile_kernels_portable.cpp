#include "runtime/kernels/packed/tile_kernels.hpp"
#include "runtime/kernels/packed/tile_kernels_impl.hpp"
#include "runtime/kernels/packed/vector_portable.hpp"

namespace poprt::kernels {
namespace {

constexpr TileKernels kKernels = tile::KernelsOf<Portable>("portable");

}  // namespace

const TileKernels& PortableTileKernels() { return kKernels; }

}  // namespace poprt::kernels
