#include "runtime/kernels/blocked/blocked_tiles_impl.hpp"
#include "runtime/kernels/blocked/vector_portable.hpp"

namespace poprt::kernels {

constexpr BlockedTiles kPortableBlockedTiles = tile::kBlockedTiles<tile::Portable>;

}  // namespace poprt::kernels
