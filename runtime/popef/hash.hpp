#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace popef {

/// XXH3-64 with seed 0, the hash of the format.
std::uint64_t Hash(std::span<const std::byte> bytes);

/// Of pieces one behind the other.
std::uint64_t HashPieces(std::span<const std::span<const std::byte>> pieces);

}  // namespace popef
