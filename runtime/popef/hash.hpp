#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace popef {

/// XXH3-64 with seed 0, the hash of the format.
std::uint64_t Hash(std::span<const std::byte> bytes);

}  // namespace popef
