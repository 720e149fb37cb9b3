#include "runtime/kernels/blocked/blocked_tiles.hpp"
#include "runtime/kernels/blocked/blocked_tiles_impl.hpp"
#include "runtime/kernels/blocked/vector_portable.hpp"

namespace poprt::kernels {
namespace {

constexpr BlockedTiles kTiles = tile::BlockedTilesOf<tile::Portable>("portable");

}  // namespace

const BlockedTiles& PortableBlockedTiles() { return kTiles; }

}  // namespace poprt::kernels
