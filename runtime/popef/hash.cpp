#include "runtime/popef/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace popef {

std::uint64_t Hash(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t HashPieces(std::span<const std::span<const std::byte>> pieces) {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_64bits_reset(&state);
  for (const std::span<const std::byte> piece : pieces) {
    XXH3_64bits_update(&state, piece.data(), piece.size());
  }
  return XXH3_64bits_digest(&state);
}

}  // namespace popef
