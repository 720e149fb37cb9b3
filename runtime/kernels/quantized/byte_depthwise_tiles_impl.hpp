#pragma once

#include "runtime/kernels/quantized/byte_tile_impl.hpp"

/// Depthwise convolutions of bytes in blocks of channels, over a vector type V, see
/// byte_tile_impl.hpp.
namespace poprt::kernels {
namespace {

/// The sums of pixels of a depthwise convolution.
template <typename V, int kPixels>
using PixelSums = typename V::Sums[kPixels][kBlockVectors<V>];

template <typename V>
[[gnu::always_inline]] inline void SumPixel(const ByteDepthwiseRow& row, std::int64_t pixel,
                                            typename V::Sums (&sums)[kBlockVectors<V>]) {
  const std::int64_t segments = (row.columns + 3) / 4;
  StartPixel<V>(row.epilogue.bases, sums);
  const Quad* weights = row.weights;
  for (std::int64_t i = 0; i < row.rows; ++i) {
    const std::uint8_t* x = row.x + pixel * row.pixel_bytes + i * row.row_bytes;
    for (std::int64_t s = 0; s < segments; ++s, x += 4 * kBlock, weights += kBlock) {
      for (int v = 0; v < kBlockVectors<V>; ++v) {
        sums[v] = V::Add(sums[v], V::FourPixels(x, v * V::kLanes),
                         V::LoadFactors(weights + v * V::kLanes));
      }
    }
  }
}

/// All pixels of a row, four at a time, of which sum_four(first pixel, sums) makes the sums; the
/// last four once more with those behind them.
template <typename V, typename SumFour>
[[gnu::always_inline]] inline void DepthwiseInFours(const ByteDepthwiseRow& row, SumFour sum_four) {
  if (row.pixels >= 4) {
    for (std::int64_t end = 4; end < row.pixels + 4; end += 4) {
      const std::int64_t p = (end < row.pixels ? end : row.pixels) - 4;
      PixelSums<V, 4> sums;
      sum_four(p, sums);
      StorePixels<V>(sums, row.epilogue, row.y + p * kBlock);
    }
    return;
  }
  for (std::int64_t p = 0; p < row.pixels; ++p) {
    PixelSums<V, 1> sums;
    SumPixel<V>(row, p, sums[0]);
    StorePixels<V>(sums, row.epilogue, row.y + p * kBlock);
  }
}

/// Pairs of neighbouring pixels, whose windows of 3x3 taps are within four columns: the weights of
/// the second are those of the first one column further.
template <typename V>
void DepthwiseInPairs(const ByteDepthwiseRow& row) {
  constexpr int kRows = 3;
  typename V::Factors first[kRows];
  typename V::Factors second[kRows];
  for (int i = 0; i < kRows; ++i) {
    first[i] = V::LoadFactors(row.weights + i * kBlock);
    second[i] = V::LoadNextFactors(row.weights + i * kBlock);
  }
  DepthwiseInFours<V>(row, [&](std::int64_t p, PixelSums<V, 4>& sums) POPRT_INLINED {
    tile::Unroll<2>([&](auto pair) POPRT_INLINED {
      constexpr int kLeft = 2 * decltype(pair)::value;
      auto& left = sums[kLeft][0];
      auto& right = sums[kLeft + 1][0];
      left = V::LoadSums(row.epilogue.bases);
      right = left;
      for (int i = 0; i < kRows; ++i) {
        const auto values = V::FourPixels(row.x + (p + kLeft) * kBlock + i * row.row_bytes, 0);
        left = V::Add(left, values, first[i]);
        right = V::Add(right, values, second[i]);
      }
    });
  });
}

template <typename V>
void Depthwise(const ByteDepthwiseRow& row) {
  if constexpr (V::kPairsPixels) {
    if (row.rows == 3 && row.columns == 3 && row.pixel_bytes == kBlock) {
      return DepthwiseInPairs<V>(row);
    }
  }
  DepthwiseInFours<V>(row, [&](std::int64_t p, PixelSums<V, 4>& sums) POPRT_INLINED {
    tile::Unroll<4>([&](auto r) POPRT_INLINED {
      SumPixel<V>(row, p + decltype(r)::value, sums[decltype(r)::value]);
    });
  });
}

}  // namespace
}  // namespace poprt::kernels
