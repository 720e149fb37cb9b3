#pragma once

#include "runtime/kernels/packed/register_tile.hpp"
#include "runtime/kernels/quantized/byte_tile_impl.hpp"

/// Convolutions of images of few planes of bytes, over a vector type V, see byte_tile_impl.hpp.
namespace poprt::kernels {
namespace {

/// kPixels pixels by kOuts blocks of an image of planes, from pixel `first` on.
template <typename V, int kPixels, int kOuts>
void ConvolvePlanesTile(const BytePlanesRow& row, std::int64_t first) {
  TileSums<V, kPixels, kOuts> sums;
  StartSums<V, kPixels, kOuts>(row.epilogue.bases, sums);
  const std::uint8_t* inputs[kPixels];
  tile::Unroll<kPixels>([&](auto r) POPRT_INLINED {
    constexpr int kR = decltype(r)::value;
    inputs[kR] = reinterpret_cast<const std::uint8_t*>(row.x + (first + kR) * row.pixel_quads);
  });
  const Quad* weights = row.weights;
  for (std::int64_t t = 0; t < row.taps; ++t, weights += kBlock) {
    const std::int64_t offset = std::int64_t{4} * row.tap_offsets[t];
    AddQuad<V, kPixels, kOuts>(
        weights, row.taps * kBlock, [&](int r) POPRT_INLINED { return inputs[r] + offset; }, sums);
  }
  tile::Unroll<kOuts>([&](auto o) POPRT_INLINED {
    constexpr int kOut = decltype(o)::value;
    StorePixels<V>(sums[kOut], EpilogueOfOut(row.epilogue, kOut),
                   row.y + kOut * row.y_stride + first * kBlock);
  });
}

/// Tiles of at most kMost pixels, as even as they can be.
template <typename V, int kMost, int kOuts>
void ConvolvePlanesTiles(const BytePlanesRow& row) {
  const std::int64_t tiles = (row.pixels + kMost - 1) / kMost;
  std::int64_t pixel = 0;
  for (std::int64_t t = 0; t < tiles; ++t) {
    const std::int64_t pixels = (row.pixels - pixel) / (tiles - t);
    tile::WithRows<kMost>(pixels, [&](auto count) POPRT_INLINED {
      ConvolvePlanesTile<V, decltype(count)::value, kOuts>(row, pixel);
    });
    pixel += pixels;
  }
}

template <typename V>
void ConvolvePlanes(const BytePlanesRow& row) {
  if (row.outs == V::kTileOuts) {
    return ConvolvePlanesTiles<V, V::kTilePixels, V::kTileOuts>(row);
  }
  ConvolvePlanesTiles<V, V::kTilePixels, 1>(row);
}

}  // namespace
}  // namespace poprt::kernels
