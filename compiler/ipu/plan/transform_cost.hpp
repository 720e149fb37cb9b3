#pragma once

#include <cstdint>

#include "compiler/ipu/target/target.hpp"

namespace poprt::ipu {

/// Cycles to change which axis is innermost, of `bytes` on a tile in elements of `element_bytes`,
/// by poplibs' transposing vertices (section 2.6): 5/4 of an element a cycle when `extent`, the new
/// innermost one, is a multiple of a vector, 5/3 otherwise. The call is included.
std::uint64_t TransformCopyCycles(const Target& target, std::uint64_t bytes,
                                  std::uint64_t element_bytes, std::uint64_t extent);

}  // namespace poprt::ipu
