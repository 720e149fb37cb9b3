#include "runtime/kernels/blocked/blocked_tiles_impl.hpp"
#include "runtime/kernels/blocked/vector_avx512.hpp"

namespace poprt::kernels {

constexpr BlockedTiles kAvx512BlockedTiles = tile::kBlockedTiles<tile::Avx512>;

}  // namespace poprt::kernels
