#pragma once

#include <cstdint>

#include "compiler/ipu/target/target.hpp"

/// Copies and rearrangements within a tile (section 2.10).
namespace poprt::ipu {

/// Cycles to copy `bytes` on a tile in pieces of `atom_bytes`, which stand together in the source
/// and in the result (at least `bytes`: one piece). The call is included; 0 when there is nothing
/// to copy.
std::uint64_t CopyCycles(const Target& target, std::uint64_t bytes, std::uint64_t atom_bytes);

}  // namespace poprt::ipu
