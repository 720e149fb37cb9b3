#pragma once

#include <cstdint>
#include <vector>

#include "runtime/kernels/blocked/winograd_filter.hpp"
#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/even_split.hpp"

/// How the outputs of a Winograd convolution are made of tiles.
namespace poprt::kernels {

/// How tiles lie along an axis of the output. Taps that are `dilation` pixels apart meet every
/// dilation-th pixel only: these, a phase, are tiled as an image of their own.
struct TileAxis {
  TileAxis(const WinogradAxis& axis, std::int64_t pad_begin, std::int64_t dilation_of_taps,
           std::int64_t outputs);

  std::int64_t tiles() const { return static_cast<std::int64_t>(begins.size()); }
  std::int64_t Begin(std::int64_t i) const { return begins[static_cast<std::size_t>(i)]; }

  std::int64_t pad;
  std::int64_t dilation;
  std::int64_t step;                 ///< from one pixel of a tile to the next
  std::vector<std::int64_t> begins;  ///< the first outputs of tiles
};

/// [begin, end) of the tile's `side` pixels from `start` on, `step` apart, that lie inside an image
/// of `extent`.
struct PixelsInside {
  PixelsInside(std::int64_t start, std::int64_t step, std::int64_t side, std::int64_t extent);

  std::int64_t begin;
  std::int64_t end;
};

/// Tiles that are computed together, a strip. Those of all images are numbered row by row.
struct TileRange {
  std::int64_t begin;
  std::int64_t end;

  std::int64_t count() const { return end - begin; }
};

/// Tiles of a strip, at most, unless block sizes say otherwise.
inline constexpr std::int64_t kMostTilesOfStrip = 48;

/// Cuts the tiles: few enough in a strip that their transforms stay in the second-level cache, but
/// enough that the weights, which every strip reads, are not what is waited for. An even number of
/// strips where that is possible, since most machines have an even number of processors. Of a
/// filter in several parts a tile has as many times more numbers. `channels` are those of a group.
EvenSplit SplitTiles(std::int64_t tiles, const WinogradFilter& filter, std::int64_t channels);

}  // namespace poprt::kernels
