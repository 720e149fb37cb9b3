#include "runtime/kernels/blocked/blocked_tiles.hpp"

#if defined(__x86_64__)

#include "runtime/kernels/blocked/blocked_tiles_impl.hpp"
#include "runtime/kernels/blocked/vector_avx2.hpp"

namespace poprt::kernels {
namespace {

constexpr BlockedTiles kTiles = tile::BlockedTilesOf<tile::Avx2>("avx2");

}  // namespace

const BlockedTiles* Avx2BlockedTiles() {
  const bool supported = __builtin_cpu_supports("avx2") != 0 &&
                         __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("f16c") != 0;
  return supported ? &kTiles : nullptr;
}

}  // namespace poprt::kernels

#else

namespace poprt::kernels {

const BlockedTiles* Avx2BlockedTiles() { return nullptr; }

}  // namespace poprt::kernels

#endif
