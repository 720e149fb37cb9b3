#pragma once

#include <cstdint>

#include "compiler/ipu/cost/conv_units.hpp"

/// The vertex for depthwise convolutions and few channels in a group, with a window of 1 x 4 kernel
/// positions (section 2.4).
namespace poprt::ipu {

inline constexpr std::uint64_t kSlicWindow = 4;

/// What one tile convolves. The input is half or quarter.
struct SlicVertex {
  ProductFormat format = {};
  std::uint64_t rows = 0;            ///< output rows, of all images of the batch
  std::uint64_t row_width = 0;       ///< output positions of a row
  std::uint64_t stride = 1;          ///< 1 or 2, along the row
  std::uint64_t sub_kernels = 1;     ///< windows of 1 x 4 that cover the kernel
  std::uint64_t group_channels = 1;  ///< channels of a convolution group: 1, 2 or 4
  /// Convolution groups side by side: 4 / group_channels, or 8 or 16 with one channel.
  std::uint64_t groups_per_group = 4;
  std::uint64_t conv_groups = 1;  ///< groups of `groups_per_group`
};

/// Cycles of the vertex on a tile; 0 when there is nothing to do.
std::uint64_t SlicVertexCycles(const Target& target, const SlicVertex& vertex);

}  // namespace poprt::ipu
