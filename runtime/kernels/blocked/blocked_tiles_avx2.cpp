#include "runtime/kernels/blocked/blocked_tiles_impl.hpp"
#include "runtime/kernels/blocked/vector_avx2.hpp"

namespace poprt::kernels {

constexpr BlockedTiles kAvx2BlockedTiles = tile::kBlockedTiles<tile::Avx2>;

}  // namespace poprt::kernels
