#include "runtime/popef/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace popef {

std::uint64_t Hash(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace popef
