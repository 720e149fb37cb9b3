#include "runtime/kernels/blocked/blocked_tiles.hpp"

namespace poprt::kernels {

const BlockedTiles& BestBlockedTiles() {
  static const BlockedTiles* const best = Avx2BlockedTiles();
  return best != nullptr ? *best : PortableBlockedTiles();
}

}  // namespace poprt::kernels
