#include "runtime/kernels/inner_loops.hpp"

#include <cstdlib>
#include <string_view>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace poprt::kernels {
namespace {

constexpr InnerLoops kPortable{.instruction_set = "portable",
                               .tiles = kPortableTileKernels,
                               .thin_products = kPortableThinProducts,
                               .blocked_tiles = kPortableBlockedTiles,
                               .winograd2 = kPortableWinograd2,
                               .winograd4 = kPortableWinograd4,
                               .rows = kPortableRowKernels,
                               .element_functions = kPortableElementFunctions};

#if defined(__x86_64__)

constexpr InnerLoops kAvx2{.instruction_set = "avx2",
                           .tiles = kAvx2TileKernels,
                           .thin_products = kAvx2ThinProducts,
                           .blocked_tiles = kAvx2BlockedTiles,
                           .winograd2 = kAvx2Winograd2,
                           .winograd4 = kAvx2Winograd4,
                           .rows = kAvx2RowKernels,
                           .element_functions = kAvx2ElementFunctions};

constexpr InnerLoops kAvx512{.instruction_set = "avx512",
                             .tiles = kAvx512TileKernels,
                             .thin_products = kAvx512ThinProducts,
                             .blocked_tiles = kAvx512BlockedTiles,
                             .winograd2 = kAvx512Winograd2,
                             .winograd4 = kAvx512Winograd4,
                             .rows = kAvx512RowKernels,
                             .element_functions = kAvx512ElementFunctions};

// Asking the processor itself takes tens of microseconds on a virtual machine. Clang's
// __builtin_cpu_supports doesn't know of F16C before version 15.
bool HasF16c() {
#if defined(__clang__)
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
#else
  return __builtin_cpu_supports("f16c") != 0;
#endif
}

bool HasAvx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 && HasF16c();
}

bool HasAvx512() {
  return HasAvx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0;
}

#endif

std::vector<const InnerLoops*> FindSupported() {
  std::vector<const InnerLoops*> supported{&kPortable};
#if defined(__x86_64__)
  if (HasAvx2()) supported.push_back(&kAvx2);
  if (HasAvx512()) supported.push_back(&kAvx512);
#endif
  return supported;
}

const InnerLoops& FindBest() {
  const auto supported = SupportedInnerLoops();
  const char* const name = std::getenv("POPRT_INSTRUCTION_SET");
  for (const InnerLoops* loops : supported) {
    if (name != nullptr && std::string_view(name) == loops->instruction_set) return *loops;
  }
  return *supported.back();
}

}  // namespace

const InnerLoops& PortableInnerLoops() { return kPortable; }

std::span<const InnerLoops* const> SupportedInnerLoops() {
  static const std::vector<const InnerLoops*> supported = FindSupported();
  return supported;
}

const InnerLoops& BestInnerLoops() {
  static const InnerLoops& best = FindBest();
  return best;
}

}  // namespace poprt::kernels
