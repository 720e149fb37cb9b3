#include "runtime/kernels/blocked/winograd_tiling.hpp"

#include <algorithm>

namespace poprt::kernels {

TileAxis::TileAxis(const WinogradAxis& axis, std::int64_t pad_begin, std::int64_t dilation_of_taps,
                   std::int64_t outputs)
    : pad(pad_begin), dilation(dilation_of_taps), step(axis.tile == 1 ? 1 : dilation) {
  for (std::int64_t phase = 0; phase < std::min(step, outputs); ++phase) {
    for (std::int64_t at = phase; at < outputs; at += axis.tile * step) begins.push_back(at);
  }
}

PixelsInside::PixelsInside(std::int64_t start, std::int64_t step, std::int64_t side,
                           std::int64_t extent)
    : begin(std::min(CeilDiv(-start, step), side)),
      end(std::clamp(CeilDiv(extent - start, step), begin, side)) {}

EvenSplit SplitTiles(std::int64_t tiles, const WinogradFilter& filter, std::int64_t channels) {
  constexpr std::int64_t kSmallest = 24;
  constexpr std::int64_t kLargestOfParts = 16;
  constexpr std::int64_t kFloatsOfParts = std::int64_t{1} << 20;
  std::int64_t largest = kMostTilesOfStrip;
  if (filter.parts() > 1) {
    const std::int64_t fitting = kFloatsOfParts / (filter.elements() * filter.parts()) / channels;
    largest = std::clamp(fitting, kLargestOfParts, kMostTilesOfStrip);
  }
  const std::int64_t strips = CeilDiv(tiles, largest);
  const std::int64_t even = strips + strips % 2;
  return {tiles, even > 0 && tiles / even >= kSmallest ? CeilDiv(tiles, even) : largest};
}

}  // namespace poprt::kernels
