#pragma once

#include <cstdint>

#include "runtime/kernels/blocked/conv_micro_kernels.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {

/// Where a convolution of images in blocks of channels reads.
struct TapGeometry {
  std::int64_t in_height;
  std::int64_t in_width;
  std::int64_t out_width;
  const Window& window;
  bool is_padding_zero = true;
};

/// Cuts output pixels [first, last) into tiles of at most `largest` pixels and fills the tables of
/// the indirect algorithm (Dukhan 2019) for them: where each pixel finds its input for each tap, so
/// that tiles may span rows of the image, and padding is an address like any other. Taps that meet
/// nothing but padding of zero are left out. Returns the number of tiles.
std::int64_t FindTiles(const TapGeometry& geometry, std::int64_t largest, std::int64_t first,
                       std::int64_t last, ConvTile* tiles, TileTap* taps);

/// The same table for one tile of up to kMostTilePixels pixels, however many are fast.
void FindTaps(const TapGeometry& geometry, std::int64_t first, std::int64_t pixels, TileTap* taps);

}  // namespace poprt::kernels
