#include <cstdint>

#include "runtime/kernels/packed/tile_kernels.hpp"
#include "runtime/kernels/packed/tile_kernels_impl.hpp"

#if defined(__x86_64__)

#include "runtime/kernels/packed/vector_avx2.hpp"

namespace poprt::kernels {
namespace {

constexpr TileKernels kKernels = tile::KernelsOf<Avx2>("avx2");

}  // namespace

const TileKernels* Avx2TileKernels() {
  const bool supported = __builtin_cpu_supports("avx2") != 0 &&
                         __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("f16c") != 0;
  return supported ? &kKernels : nullptr;
}

}  // namespace poprt::kernels

#else

namespace poprt::kernels {

const TileKernels* Avx2TileKernels() { return nullptr; }

}  // namespace poprt::kernels

#endif
