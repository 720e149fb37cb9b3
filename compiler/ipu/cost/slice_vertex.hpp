#pragma once

#include <cstdint>

#include "compiler/ipu/cost/number_format.hpp"

/// Gathering and updating rows (section 2.9).
namespace poprt::ipu {

/// What one tile gathers or updates.
struct MultiSliceVertex {
  NumberFormat format = NumberFormat::kFloat16;
  std::uint64_t offsets = 0;           ///< looked at
  std::uint64_t offsets_in_range = 0;  ///< of those, rows that lie on this tile
  std::uint64_t row_elements = 0;      ///< columns of a row on this tile
};

/// Cycles to gather rows on a tile, its offsets divided among the workers; 0 when there are none.
std::uint64_t MultiSliceVertexCycles(const Target& target, const MultiSliceVertex& vertex);

/// Cycles to replace rows on a tile.
std::uint64_t MultiUpdateVertexCycles(const Target& target, const MultiSliceVertex& vertex);

/// Cycles to add to rows on a tile.
std::uint64_t MultiUpdateAddVertexCycles(const Target& target, const MultiSliceVertex& vertex);

/// Cycles to take, or put, a slice at an offset known when it runs: `slices` pieces of `elements`
/// each on this tile, also those of serially split products; 0 when there are none.
std::uint64_t DynamicSliceVertexCycles(const Target& target, NumberFormat format,
                                       std::uint64_t slices, std::uint64_t elements);

}  // namespace poprt::ipu
