#pragma once

#include <cstdint>

#include "compiler/ipu/cost/conv_units.hpp"

/// The vertex for depthwise convolutions of half inputs, which multiplies along the channels
/// without AMP (section 2.4).
namespace poprt::ipu {

/// What one tile convolves.
struct VmacVertex {
  bool half_partials = true;
  std::uint64_t rows = 0;              ///< output rows, of all images of the batch
  std::uint64_t row_width = 0;         ///< output positions of a row
  std::uint64_t kernel_rows = 1;       ///< 3 for 3x5
  std::uint64_t kernel_columns = 1;    ///< 5 for 3x5
  std::uint64_t groups_per_group = 4;  ///< channels side by side: 4, 8 or 16
  std::uint64_t conv_groups = 1;       ///< groups of `groups_per_group`
  std::uint64_t in_groups = 1;
};

/// Cycles of the vertex on a tile, zeroing and the reduction over its workers included; 0 when
/// there is nothing to do.
std::uint64_t VmacVertexCycles(const Target& target, const VmacVertex& vertex);

}  // namespace poprt::ipu
