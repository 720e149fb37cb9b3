#pragma once

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

/// Channels become blocks of pixels, of which an edge may be cut off:
///
///     y[b, c, i, j] = x[b, plane, (i + crop_height) / block_height, (j + crop_width) /
///     block_width] plane = c * channel_planes + (i + crop_height) % block_height *
///     block_row_planes
///             and for every (j + crop_width) % block_width phase_step elements more
struct SubpixelShuffle {
  std::int64_t batch = 1;
  std::int64_t channels = 1;  ///< of y
  std::int64_t in_height = 1;
  std::int64_t in_width = 1;
  std::int64_t out_height = 1;
  std::int64_t out_width = 1;
  std::int64_t block_height = 1;
  std::int64_t block_width = 1;
  std::int64_t crop_height = 0;
  std::int64_t crop_width = 0;
  std::int64_t channel_planes = 1;
  std::int64_t block_row_planes = 1;
  std::int64_t phase_step = 0;
};

/// The kernel for checked numbers and elements of any type.
BoundKernel BindShuffle(const SubpixelShuffle& shuffle, ElementType element);

/// "subpixel_shuffle": x [B, C * h * w, Qh, Qw] -> y [B, C, H, W] with channel (c * h + p) * w + q
/// of x holding the pixels of phase (p, q). Attributes: blocks {h, w}, crops {rows, columns} that y
/// lacks at the top and at the left; what it lacks at the bottom and at the right follows from its
/// shape. With phases_first = 1 channel (p * w + q) * C + c has those pixels; then the images may
/// also be blocked, [B, blocks of channels, H, W, channels of a block], with pixels of 64 bytes.
BoundKernel BindSubpixelShuffle(const KernelCall& call);

}  // namespace poprt::kernels
