#pragma once

#include <cstdint>

#include "compiler/ipu/cost/conv_units.hpp"

/// The vertex for convolutions with very few channels, which multiplies along the input channels
/// without AMP (section 2.4).
namespace poprt::ipu {

/// What one tile convolves. The input is half or float.
struct HmacVertex {
  ProductFormat format = {};
  std::uint64_t rows = 0;              ///< output rows, of all images of the batch
  std::uint64_t row_width = 0;         ///< output positions of a row
  std::uint64_t kernel_positions = 1;  ///< of the kernel: 9 for 3x3
  std::uint64_t in_group_channels = 1;
  std::uint64_t out_group_channels = 1;
  std::uint64_t in_groups = 1;
  std::uint64_t out_groups = 1;
  std::uint64_t conv_groups = 1;
};

/// Cycles of the vertex on a tile, zeroing of the partials included; 0 when there is nothing to do.
std::uint64_t HmacVertexCycles(const Target& target, const HmacVertex& vertex);

}  // namespace poprt::ipu
