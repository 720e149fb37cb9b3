#pragma once

#include <cstdint>

#include "compiler/ipu/cost/number_format.hpp"

/// Pooling (section 2.8).
namespace poprt::ipu {

/// What one tile pools.
struct PoolingVertex {
  NumberFormat format = NumberFormat::kFloat16;
  std::uint64_t rows = 0;              ///< output rows, of all images and channel groups
  std::uint64_t row_elements = 0;      ///< positions of an output row x channels of a group
  std::uint64_t kernel_positions = 1;  ///< 9 for 3x3
};

/// Cycles of the vertex on a tile, its rows divided among the workers; 0 when there is nothing to
/// pool.
std::uint64_t PoolingVertexCycles(const Target& target, const PoolingVertex& vertex);

}  // namespace poprt::ipu
