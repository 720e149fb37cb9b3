#include "runtime/kernels/blocked/tile_taps.hpp"

#include <cstring>

#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

constexpr int kLanes = kMostTilePixels;
/// A number of each pixel of a tile.
using Lanes [[gnu::vector_size(kLanes * 4)]] = std::int32_t;
using Offsets [[gnu::vector_size(kLanes * 4)]] = std::uint32_t;

/// Whether all lanes have all bits.
bool All(const Lanes& lanes) {
  std::uint64_t words[sizeof(lanes) / sizeof(std::uint64_t)];
  std::memcpy(words, &lanes, sizeof(words));
  std::uint64_t common = ~std::uint64_t{0};
  for (const std::uint64_t word : words) common &= word;
  return common == ~std::uint64_t{0};
}

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
    const auto last_row = static_cast<std::int32_t>(of.in_height - of.window.Reach(0));
    const auto last_column = static_cast<std::int32_t>(of.in_width - of.window.Reach(1));
    const Lanes inside =
        (rows >= 0) & (rows <= last_row) & (columns >= 0) & (columns <= last_column);
    return All(inside);
  }

  Lanes rows;
  Lanes columns;
};

constexpr std::int32_t kTapWeights = static_cast<std::int32_t>(kBlock * kBlock);

/// Writes the taps of row i of the window; returns one past the last. A lane outside has all bits,
/// as kPadding does.
TileTap* FindTapsOfRow(const TapGeometry& of, const Windows& windows, std::int64_t i, bool inside,
                       TileTap* taps) {
  const Window& window = of.window;
  const auto height = static_cast<std::int32_t>(of.in_height);
  const auto width = static_cast<std::int32_t>(of.in_width);
  const Lanes rows = windows.rows + static_cast<std::int32_t>(i * window.dilations[0]);
  const Lanes outside_rows = (rows < 0) | (rows >= height);
  const Offsets begins = reinterpret_cast<Offsets>(rows) * static_cast<std::uint32_t>(width);
  for (std::int64_t k = 0; k < window.kernel[1]; ++k) {
    const Lanes columns = windows.columns + static_cast<std::int32_t>(k * window.dilations[1]);
    const Offsets found =
        (begins + reinterpret_cast<Offsets>(columns)) * static_cast<std::uint32_t>(kBlock);
    auto offsets = reinterpret_cast<Lanes>(found);
    if (!inside) {
      offsets |= outside_rows | (columns < 0) | (columns >= width);
      if (of.is_padding_zero && All(offsets)) continue;  // padding only
    }
    taps->weights = static_cast<std::int32_t>(i * window.kernel[1] + k) * kTapWeights;
    std::memcpy(taps->inputs, &offsets, sizeof(offsets));
    ++taps;
  }
  return taps;
}

static_assert(kPadding == -1);

/// Writes the taps of one tile; returns one past the last.
TileTap* FindTapsOfTile(const TapGeometry& of, std::int64_t first, std::int64_t pixels,
                        TileTap* taps) {
  const Windows windows(of, first, pixels);
  const bool inside = windows.AreInside(of);
  for (std::int64_t i = 0; i < of.window.kernel[0]; ++i) {
    taps = FindTapsOfRow(of, windows, i, inside, taps);
  }
  return taps;
}

}  // namespace

std::int64_t FindTiles(const TapGeometry& geometry, std::int64_t largest, std::int64_t first,
                       std::int64_t last, ConvTile* tiles, TileTap* taps) {
  const RegisterTiles cut(last - first, largest);
  RunWide([cut, geometry, first, tiles, taps] {
    TileTap* next = taps;
    for (std::int64_t t = 0; t < cut.count(); ++t) {
      TileTap* const end = FindTapsOfTile(geometry, first + cut.begin(t), cut.size(t), next);
      tiles[t] = {.pixels = static_cast<std::int32_t>(cut.size(t)),
                  .taps = static_cast<std::int32_t>(end - next)};
      next = end;
    }
  });
  return cut.count();
}

void FindTaps(const TapGeometry& geometry, std::int64_t first, std::int64_t pixels, TileTap* taps) {
  RunWide([geometry, first, pixels, taps] { FindTapsOfTile(geometry, first, pixels, taps); });
}

}  // namespace poprt::kernels
