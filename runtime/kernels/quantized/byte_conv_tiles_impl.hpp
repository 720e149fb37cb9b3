#pragma once

#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels.hpp"

/// Tiles of convolutions of bytes in blocks of channels, over a vector type V as of
/// byte_micro_kernels_impl.hpp. Included only by files that are compiled for one instruction set,
/// hence the unnamed namespace.
namespace poprt::kernels {
namespace {

template <typename V>
constexpr int kBlockVectors = static_cast<int>(kBlock / V::kLanes);

inline ByteEpilogue EpilogueOfOut(const ByteEpilogue& first, std::int64_t out) {
  ByteEpilogue epilogue = first;
  epilogue.bases += out * kBlock;
  epilogue.factors += out * kBlock;
  return epilogue;
}

/// kPixels pixels by kOuts blocks: the sums over all (input block, tap) pairs stay in registers.
template <typename V, int kPixels, int kOuts>
void ConvolveTile(const BytePanel& panel, const TileTap* taps, std::int64_t tap_count,
                  std::uint8_t* y) {
  constexpr int kVectors = kBlockVectors<V>;
  typename V::Sums sums[kPixels][kOuts][kVectors];
  for (auto& pixel : sums) {
    for (auto& out : pixel) {
      for (auto& sum : out) sum = V::Zero();
    }
  }
  const std::uint8_t* x = panel.x;
  const Quad* weights = panel.weights;
  for (std::int64_t block = 0; block < panel.blocks; ++block) {
    const std::int64_t quads = block + 1 == panel.blocks ? panel.last_quads : kBlock / 4;
    for (std::int64_t t = 0; t < tap_count; ++t) {
      const auto input = [&](int r) POPRT_INLINED {
        const std::int32_t offset = taps[t].inputs[r];
        return offset == kPadding ? panel.padding : x + offset;
      };
      const Quad* const of_tap = weights + taps[t].weights / 4;
      const auto add = [&](std::int64_t q, auto input_of) POPRT_INLINED {
        decltype(V::LoadFactors(nullptr)) factors[kOuts][kVectors];
        for (int o = 0; o < kOuts; ++o) {
          for (int v = 0; v < kVectors; ++v) {
            factors[o][v] =
                V::LoadFactors(of_tap + q * kBlock + o * panel.weights_stride + v * V::kLanes);
          }
        }
        for (int r = 0; r < kPixels; ++r) {
          const typename V::Values values = V::Repeat(input_of(r) + 4 * q);
          for (int o = 0; o < kOuts; ++o) {
            for (int v = 0; v < kVectors; ++v) {
              sums[r][o][v] = V::Add(sums[r][o][v], values, factors[o][v]);
            }
          }
        }
      };
      // There are not enough registers for so many addresses, which pays for several quads only.
      if (quads == 1) {
        add(0, input);
        continue;
      }
      const std::uint8_t* inputs[kPixels];
      for (int r = 0; r < kPixels; ++r) inputs[r] = input(r);
      for (std::int64_t q = 0; q < quads; ++q) {
        add(q, [&](int r) POPRT_INLINED { return inputs[r]; });
      }
    }
    x += panel.x_stride;
    weights += panel.taps * (kBlock / 4) * kBlock;
  }
  for (int o = 0; o < kOuts; ++o) {
    const ByteEpilogue epilogue = EpilogueOfOut(panel.epilogue, o);
    for (int r = 0; r < kPixels; ++r) {
      V::StoreBytes(sums[r][o], epilogue, y + o * panel.y_stride + r * kBlock);
    }
  }
}

using TileFunction = void (*)(const BytePanel&, const TileTap*, std::int64_t, std::uint8_t*);

/// The tile of 1 to kMost pixels.
template <typename V, int kMost, int kOuts>
TileFunction TileOf(std::int64_t pixels) {
  if constexpr (kMost > 1) {
    if (pixels < kMost) return TileOf<V, kMost - 1, kOuts>(pixels);
  }
  return ConvolveTile<V, kMost, kOuts>;
}

template <typename V>
void Convolve(const BytePanel& panel, const ConvTile* tiles, std::int64_t tile_count,
              const TileTap* taps) {
  std::uint8_t* y = panel.y;
  for (std::int64_t i = 0; i < tile_count; ++i) {
    const ConvTile& tile = tiles[i];
    const TileFunction convolve = panel.outs == V::kTileOuts
                                      ? TileOf<V, V::kTilePixels, V::kTileOuts>(tile.pixels)
                                      : TileOf<V, V::kTilePixels, 1>(tile.pixels);
    convolve(panel, taps, tile.taps, y);
    y += tile.pixels * kBlock;
    taps += tile.taps;
  }
}

template <typename V>
[[gnu::always_inline]] inline void DepthwisePixel(const ByteDepthwiseRow& row, std::int64_t pixel) {
  constexpr int kVectors = kBlockVectors<V>;
  const std::int64_t segments = (row.columns + 3) / 4;
  typename V::Sums sums[kVectors];
  for (auto& sum : sums) sum = V::Zero();
  const Quad* weights = row.weights;
  for (std::int64_t i = 0; i < row.rows; ++i) {
    const std::uint8_t* x = row.x + pixel * row.pixel_bytes + i * row.row_bytes;
    for (std::int64_t s = 0; s < segments; ++s, x += 4 * kBlock, weights += kBlock) {
      for (int v = 0; v < kVectors; ++v) {
        sums[v] = V::Add(sums[v], V::FourPixels(x, v * V::kLanes),
                         V::LoadFactors(weights + v * V::kLanes));
      }
    }
  }
  V::StoreBytes(sums, row.epilogue, row.y + pixel * kBlock);
}

/// Pairs of neighbouring pixels, whose windows of 3x3 taps are within four columns: the weights of
/// the second are those of the first one column further. Returns how many pixels there were.
template <typename V>
std::int64_t DepthwisePairs(const ByteDepthwiseRow& row) {
  constexpr int kRows = 3;
  typename V::Factors first[kRows];
  typename V::Factors second[kRows];
  for (int i = 0; i < kRows; ++i) {
    first[i] = V::LoadFactors(row.weights + i * kBlock);
    second[i] = V::LoadNextFactors(row.weights + i * kBlock);
  }
  std::int64_t p = 0;
  for (; p + 2 <= row.pixels; p += 2) {
    typename V::Sums left[1] = {V::Zero()};
    typename V::Sums right[1] = {V::Zero()};
    for (int i = 0; i < kRows; ++i) {
      const auto values = V::FourPixels(row.x + p * kBlock + i * row.row_bytes, 0);
      left[0] = V::Add(left[0], values, first[i]);
      right[0] = V::Add(right[0], values, second[i]);
    }
    V::StoreBytes(left, row.epilogue, row.y + p * kBlock);
    V::StoreBytes(right, row.epilogue, row.y + (p + 1) * kBlock);
  }
  return p;
}

template <typename V>
void Depthwise(const ByteDepthwiseRow& row) {
  std::int64_t done = 0;
  if constexpr (V::kPairsPixels) {
    if (row.rows == 3 && row.columns == 3 && row.pixel_bytes == kBlock) {
      done = DepthwisePairs<V>(row);
    }
  }
  for (; done < row.pixels; ++done) DepthwisePixel<V>(row, done);
}

}  // namespace
}  // namespace poprt::kernels
