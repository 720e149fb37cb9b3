#include "runtime/kernels/blocked/tile_taps.hpp"

#include <algorithm>

#include "runtime/kernels/packed/row_tiles.hpp"

namespace poprt::kernels {
namespace {

constexpr int kLanes = kMostTilePixels;

/// Where the windows of the pixels of a tile begin. Lanes behind the tile repeat its last pixel.
struct Windows {
  Windows(const TapGeometry& of, std::int64_t first, std::int64_t pixels) {
    const Window& window = of.window;
    std::int64_t row = first / of.out_width;
    std::int64_t column = first % of.out_width;
    for (std::int64_t r = 0; r < kLanes; ++r) {
      rows[r] = static_cast<std::int32_t>(row * window.strides[0] - window.pads_begin[0]);
      columns[r] = static_cast<std::int32_t>(column * window.strides[1] - window.pads_begin[1]);
      if (r + 1 >= pixels) continue;
      if (++column == of.out_width) {
        column = 0;
        ++row;
      }
    }
  }

  /// Whether no tap meets padding.
  bool AreInside(const TapGeometry& of) const {
    const auto inside = [](const std::int32_t* begins, std::int64_t reach, std::int64_t extent) {
      bool all = true;
      for (int r = 0; r < kLanes; ++r) all = all && begins[r] >= 0 && begins[r] + reach <= extent;
      return all;
    };
    return inside(rows, of.window.Reach(0), of.in_height) &&
           inside(columns, of.window.Reach(1), of.in_width);
  }

  std::int32_t rows[kLanes];
  std::int32_t columns[kLanes];
};

/// Calls f(number, row, column) for every tap, the latter from where the window begins.
template <typename F>
void EachTap(const Window& window, const F& f) {
  std::int32_t tap = 0;
  for (std::int64_t i = 0; i < window.kernel[0]; ++i) {
    for (std::int64_t k = 0; k < window.kernel[1]; ++k, ++tap) {
      f(tap, static_cast<std::int32_t>(i * window.dilations[0]),
        static_cast<std::int32_t>(k * window.dilations[1]));
    }
  }
}

std::int32_t OffsetOf(std::int32_t row, std::int32_t column, std::int64_t width) {
  const std::uint32_t pixel = static_cast<std::uint32_t>(row) * static_cast<std::uint32_t>(width) +
                              static_cast<std::uint32_t>(column);
  return static_cast<std::int32_t>(pixel * static_cast<std::uint32_t>(kBlock));
}

constexpr std::int32_t kTapWeights = static_cast<std::int32_t>(kBlock * kBlock);

TileTap* FindTapsInside(const TapGeometry& of, const Windows& windows, TileTap* taps) {
  std::int32_t begins[kLanes];
  for (int r = 0; r < kLanes; ++r) {
    begins[r] = OffsetOf(windows.rows[r], windows.columns[r], of.in_width);
  }
  EachTap(of.window, [&](std::int32_t tap, std::int32_t row, std::int32_t column) {
    const std::int32_t shift = OffsetOf(row, column, of.in_width);
    taps->weights = tap * kTapWeights;
    for (int r = 0; r < kLanes; ++r) taps->inputs[r] = begins[r] + shift;
    ++taps;
  });
  return taps;
}

/// Writes the taps of one tile; returns one past the last.
TileTap* FindTaps(const TapGeometry& of, std::int64_t first, std::int64_t pixels, TileTap* taps) {
  const Windows windows(of, first, pixels);
  if (windows.AreInside(of)) return FindTapsInside(of, windows, taps);
  const auto height = static_cast<std::int32_t>(of.in_height);
  const auto width = static_cast<std::int32_t>(of.in_width);
  EachTap(of.window, [&](std::int32_t tap, std::int32_t row, std::int32_t column) {
    std::int32_t offsets[kLanes];
    std::int32_t all = -1;
    for (int r = 0; r < kLanes; ++r) {
      const std::int32_t at_row = windows.rows[r] + row;
      const std::int32_t at_column = windows.columns[r] + column;
      const bool outside = static_cast<int>(at_row < 0) | static_cast<int>(at_row >= height) |
                           static_cast<int>(at_column < 0) | static_cast<int>(at_column >= width);
      offsets[r] = outside ? kPadding : OffsetOf(at_row, at_column, width);
      all &= offsets[r];
    }
    if (all < 0 && of.is_padding_zero) return;
    taps->weights = tap * kTapWeights;
    std::copy_n(offsets, kLanes, taps->inputs);
    ++taps;
  });
  return taps;
}

}  // namespace

std::int64_t FindTiles(const TapGeometry& geometry, std::int64_t largest, std::int64_t first,
                       std::int64_t last, ConvTile* tiles, TileTap* taps) {
  const RegisterTiles cut(last - first, largest);
  for (std::int64_t t = 0; t < cut.count(); ++t) {
    TileTap* const end = FindTaps(geometry, first + cut.begin(t), cut.size(t), taps);
    tiles[t] = {.pixels = static_cast<std::int32_t>(cut.size(t)),
                .taps = static_cast<std::int32_t>(end - taps)};
    taps = end;
  }
  return cut.count();
}

}  // namespace poprt::kernels
