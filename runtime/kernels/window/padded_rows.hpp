#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {

/// The input rows that a strip of output rows of a 2-D convolution reads, copied with their
/// padding: columns behind the last window are left out.
struct PaddedRows {
  PaddedRows(const Window& of, const Shape& input_spatial, const Shape& output_spatial)
      : window(of),
        in_height(input_spatial[0]),
        in_width(input_spatial[1]),
        out_height(output_spatial[0]),
        width((output_spatial[1] - 1) * of.strides[1] + of.Reach(1)) {}

  /// Those that so many output rows, at least one, read.
  std::int64_t Count(std::int64_t out_rows) const {
    return (out_rows - 1) * window.strides[0] + window.Reach(0);
  }

  /// Output rows of a strip, at least 1: as many as read up to `most` positions, and fewer where
  /// that leaves threads idle.
  std::int64_t RowsOfStrip(std::int64_t most) const {
    constexpr std::int64_t kStrips = 8;
    const std::int64_t rows = most / std::max<std::int64_t>(1, width) - window.Reach(0);
    const std::int64_t fitting = 1 + std::max<std::int64_t>(0, rows) / window.strides[0];
    const std::int64_t shared = out_height / kStrips + (out_height % kStrips != 0 ? 1 : 0);
    return std::max<std::int64_t>(1, std::min(fitting, shared));
  }

  /// Where the taps are, from the first on, in positions of rows side by side.
  std::vector<std::int32_t> TapOffsets() const {
    std::vector<std::int32_t> offsets;
    offsets.reserve(static_cast<std::size_t>(window.kernel[0] * window.kernel[1]));
    for (std::int64_t i = 0; i < window.kernel[0]; ++i) {
      for (std::int64_t k = 0; k < window.kernel[1]; ++k) {
        offsets.push_back(
            static_cast<std::int32_t>(i * window.dilations[0] * width + k * window.dilations[1]));
      }
    }
    return offsets;
  }

  /// Columns of padding on the left, and of the input behind them.
  std::int64_t Left() const { return std::min(window.pads_begin[1], width); }
  std::int64_t Kept() const { return std::min(in_width, width - Left()); }

  /// Writes what output rows [out_row, out_row + out_rows) read. copy(row, count, to) copies the
  /// first `count` positions of an input row.
  template <typename T, typename CopyRow>
  void Fill(std::int64_t out_row, std::int64_t out_rows, T padding, T* to, CopyRow copy) const {
    const std::int64_t left = Left();
    const std::int64_t kept = Kept();
    const std::int64_t first = out_row * window.strides[0] - window.pads_begin[0];
    for (std::int64_t row = first; row < first + Count(out_rows); ++row, to += width) {
      if (row < 0 || row >= in_height) {
        std::fill_n(to, width, padding);
        continue;
      }
      std::fill_n(to, left, padding);
      copy(row, kept, to + left);
      std::fill(to + left + kept, to + width, padding);
    }
  }

  Window window;
  std::int64_t in_height;
  std::int64_t in_width;
  std::int64_t out_height;
  std::int64_t width;  ///< with padding
};

}  // namespace poprt::kernels
