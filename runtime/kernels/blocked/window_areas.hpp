#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/conv_micro_kernels.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {

/// Rows [first, last) of an image.
struct RowRange {
  std::int64_t first;
  std::int64_t last;

  std::int64_t count() const { return std::max<std::int64_t>(0, last - first); }
};

/// The rows of an image of `height` that windows of output rows [first, last) reach into.
RowRange InputRows(const Window& window, std::int64_t height, std::int64_t first,
                   std::int64_t last);

/// Consecutive output positions of one axis whose windows cover the same taps inside the image.
struct TapSpan {
  std::int64_t begin;  ///< output positions
  std::int64_t end;
  std::int64_t first_tap;
  std::int64_t last_tap;  ///< one past; equal to first_tap where all is padding
};

/// Cuts the outputs of a sliding window over a blocked image into areas of pixels that cover the
/// same taps, so that padding needs no care in the inner loops.
class WindowAreas {
 public:
  /// The sizes passed RequireSmallOffsets.
  WindowAreas(const Window& window, const BlockedImage& in, const BlockedImage& out);

  /// Calls f(area, rows, columns), with the spans it belongs to, for the areas of output rows
  /// [first_row, last_row) of one block. x and y point to the block's first pixel.
  template <typename F>
  void ForAreas(std::int64_t first_row, std::int64_t last_row, const float* x, float* y,
                const F& f) const {
    for (TapSpan rows : rows_) {
      rows.begin = std::max(rows.begin, first_row);
      rows.end = std::min(rows.end, last_row);
      if (rows.begin >= rows.end) continue;
      for (const TapSpan& columns : columns_) f(AreaOf(rows, columns, x, y), rows, columns);
    }
  }

 private:
  WindowArea AreaOf(const TapSpan& rows, const TapSpan& columns, const float* x, float* y) const;

  Window window_;
  std::int64_t in_width_;
  std::int64_t out_width_;
  std::vector<TapSpan> rows_;
  std::vector<TapSpan> columns_;
};

}  // namespace poprt::kernels
