#include "runtime/kernels/packed/tile_kernels.hpp"

namespace poprt::kernels {

const TileKernels& BestTileKernels() {
  static const TileKernels* const best = Avx2TileKernels();
  return best != nullptr ? *best : PortableTileKernels();
}

}  // namespace poprt::kernels
