#pragma once

#include <cstdint>

#include "compiler/ipu/cost/conv_units.hpp"

/// The AMP vertex for kernels larger than 1x1, called n x 1 (section 2.3).
namespace poprt::ipu {

/// What one tile convolves. The kernel is walked as `kernel_outer` x `kernel_inner` steps, each of
/// which takes `filter_height` kernel rows at once: a 3x3 kernel with filter height 1 is 3 x 3
/// steps; with filter height 4 the rows are padded to 4 and it is 1 x 3 steps.
struct SpatialAmpVertex {
  ProductFormat format = {};
  bool load_128bit = false;     ///< use_128bit_conv_unit_load; not for filter height 4
  std::uint64_t rows = 0;       ///< output rows, of all images of the batch
  std::uint64_t row_width = 0;  ///< output positions of a row
  std::uint64_t kernel_outer = 1;
  std::uint64_t kernel_inner = 1;
  std::uint64_t filter_height = 1;  ///< 1, 2 or 4
  std::uint64_t in_groups = 1;      ///< groups of ConvInputGroup / filter_height channels
  std::uint64_t out_groups = 1;     ///< groups of `out_group_channels`
  std::uint64_t conv_groups = 1;
  std::uint64_t out_group_channels = 16;
};

/// Cycles of the vertex on a tile, zeroing of the partials included; 0 when there is nothing to do.
/// The target has units for the format.
std::uint64_t SpatialAmpVertexCycles(const Target& target, const SpatialAmpVertex& vertex);

}  // namespace poprt::ipu
