#include "runtime/kernels/blocked/window_areas.hpp"

#include <algorithm>
#include <utility>

namespace poprt::kernels {
namespace {

std::vector<TapSpan> SpansOf(const Window& window, std::size_t axis, std::int64_t in_extent,
                             std::int64_t out_extent) {
  const std::int64_t dilation = window.dilations[axis];
  std::vector<TapSpan> spans;
  for (std::int64_t o = 0; o < out_extent; ++o) {
    const std::int64_t origin = o * window.strides[axis] - window.pads_begin[axis];
    const std::int64_t first = origin >= 0 ? 0 : (-origin - 1) / dilation + 1;
    const std::int64_t last =
        origin >= in_extent
            ? 0
            : std::min(window.kernel[axis], (in_extent - origin - 1) / dilation + 1);
    const bool empty = first >= last;
    const TapSpan span{o, o + 1, empty ? 0 : first, empty ? 0 : last};
    if (!spans.empty() && spans.back().first_tap == span.first_tap &&
        spans.back().last_tap == span.last_tap) {
      ++spans.back().end;
    } else {
      spans.push_back(span);
    }
  }
  return spans;
}

}  // namespace

RowRange InputRows(const Window& window, std::int64_t height, std::int64_t first,
                   std::int64_t last) {
  const std::int64_t begin = first * window.strides[0] - window.pads_begin[0];
  const std::int64_t end = (last - 1) * window.strides[0] - window.pads_begin[0] + window.Reach(0);
  return {std::clamp<std::int64_t>(begin, 0, height), std::clamp<std::int64_t>(end, 0, height)};
}

WindowAreas::WindowAreas(const Window& window, const BlockedImage& in, const BlockedImage& out)
    : window_(window),
      in_width_(in.width),
      out_width_(out.width),
      rows_(SpansOf(window, 0, in.height, out.height)),
      columns_(SpansOf(window, 1, in.width, out.width)) {}

WindowArea WindowAreas::AreaOf(const TapSpan& rows, const TapSpan& columns, const float* x,
                               float* y) const {
  WindowArea area{.x = x,
                  .y = y + (rows.begin * out_width_ + columns.begin) * kBlock,
                  .lines = rows.end - rows.begin,
                  .pixels = columns.end - columns.begin,
                  .y_line = out_width_ * kBlock,
                  .y_pixel = kBlock};
  if (rows.first_tap < rows.last_tap && columns.first_tap < columns.last_tap) {
    const std::int64_t row = rows.begin * window_.strides[0] - window_.pads_begin[0] +
                             rows.first_tap * window_.dilations[0];
    const std::int64_t column = columns.begin * window_.strides[1] - window_.pads_begin[1] +
                                columns.first_tap * window_.dilations[1];
    area.x += (row * in_width_ + column) * kBlock;
    area.x_line = window_.strides[0] * in_width_ * kBlock;
    area.x_pixel = window_.strides[1] * kBlock;
    area.rows = rows.last_tap - rows.first_tap;
    area.columns = columns.last_tap - columns.first_tap;
    area.x_row = window_.dilations[0] * in_width_ * kBlock;
    area.x_column = window_.dilations[1] * kBlock;
  }
  // Tiles are cut from lines: a border column of the image is better one line than many.
  if (area.pixels < kTilePixels && area.pixels < area.lines) {
    area.lines_are_columns = true;
    std::swap(area.lines, area.pixels);
    std::swap(area.x_line, area.x_pixel);
    std::swap(area.y_line, area.y_pixel);
  }
  return area;
}

}  // namespace poprt::kernels
