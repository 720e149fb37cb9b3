#pragma once

#include "runtime/kernels/packed/register_tile.hpp"
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

/// Results of pixels side by side, from the sums of a block of each, which stay in registers: four
/// at a time where it can be, the last four once more with those behind them.
template <typename V, int kPixels>
[[gnu::always_inline]] inline void StorePixels(
    const typename V::Sums (&sums)[kPixels][kBlockVectors<V>], const ByteEpilogue& epilogue,
    std::uint8_t* y) {
  constexpr int kFours = V::kStoresFour ? kPixels / 4 : 0;
  constexpr int kRest = kPixels - 4 * kFours;
  if constexpr (kFours > 0) {
    constexpr bool kOverlaps = kRest > 1;
    tile::Unroll<kFours + (kOverlaps ? 1 : 0)>([&](auto four) POPRT_INLINED {
      constexpr int kEnd = 4 * (decltype(four)::value + 1);
      constexpr int kFirst = (kEnd > kPixels ? kPixels : kEnd) - 4;
      V::StoreFour(sums + kFirst, epilogue, y + kFirst * kBlock);
    });
    if constexpr (kOverlaps) return;
  }
  tile::Unroll<kRest>([&](auto rest) POPRT_INLINED {
    constexpr int kPixel = 4 * kFours + decltype(rest)::value;
    V::StoreBytes(sums[kPixel], epilogue, y + kPixel * kBlock);
  });
}

template <typename V>
[[gnu::always_inline]] inline void StartPixel(const std::int32_t* bases,
                                              typename V::Sums (&sums)[kBlockVectors<V>]) {
  tile::Unroll<kBlockVectors<V>>([&](auto v) POPRT_INLINED {
    sums[decltype(v)::value] = V::LoadSums(bases + decltype(v)::value * V::kLanes);
  });
}

/// The sums of a tile of kPixels pixels by kOuts blocks.
template <typename V, int kPixels, int kOuts>
using TileSums = typename V::Sums[kOuts][kPixels][kBlockVectors<V>];

template <typename V, int kPixels, int kOuts>
[[gnu::always_inline]] inline void StartSums(const std::int32_t* bases,
                                             TileSums<V, kPixels, kOuts>& sums) {
  tile::Unroll<kOuts>([&](auto o) POPRT_INLINED {
    tile::Unroll<kPixels>([&](auto r) POPRT_INLINED {
      constexpr int kOut = decltype(o)::value;
      StartPixel<V>(bases + kOut * kBlock, sums[kOut][decltype(r)::value]);
    });
  });
}

/// Adds the products of a quad of channels of each pixel, of which input_of(r) is the first byte.
template <typename V, int kPixels, int kOuts, typename InputOf>
[[gnu::always_inline]] inline void AddQuad(const Quad* weights, std::int64_t weights_stride,
                                           InputOf input_of, TileSums<V, kPixels, kOuts>& sums) {
  constexpr int kVectors = kBlockVectors<V>;
  decltype(V::LoadFactors(nullptr)) factors[kOuts][kVectors];
  for (int o = 0; o < kOuts; ++o) {
    for (int v = 0; v < kVectors; ++v) {
      factors[o][v] = V::LoadFactors(weights + o * weights_stride + v * V::kLanes);
    }
  }
  for (int r = 0; r < kPixels; ++r) {
    const typename V::Values values = V::Repeat(input_of(r));
    for (int o = 0; o < kOuts; ++o) {
      for (int v = 0; v < kVectors; ++v) {
        sums[o][r][v] = V::Add(sums[o][r][v], values, factors[o][v]);
      }
    }
  }
}

/// Adds those of an input block at one tap, wherever its pixels are.
template <typename V, int kPixels, int kOuts>
[[gnu::always_inline]] inline void AddTap(const BytePanel& panel, const TileTap& tap,
                                          const std::uint8_t* x, const Quad* weights,
                                          std::int64_t quads, TileSums<V, kPixels, kOuts>& sums) {
  const auto input = [&](int r) POPRT_INLINED {
    const std::int32_t offset = tap.inputs[r];
    return offset == kPadding ? panel.padding : x + offset;
  };
  // There are not enough registers for so many addresses, which pays for several quads only.
  if (quads == 1) return AddQuad<V, kPixels, kOuts>(weights, panel.weights_stride, input, sums);
  const std::uint8_t* inputs[kPixels];
  for (int r = 0; r < kPixels; ++r) inputs[r] = input(r);
  for (std::int64_t q = 0; q < quads; ++q, weights += kBlock) {
    AddQuad<V, kPixels, kOuts>(
        weights, panel.weights_stride, [&](int r) POPRT_INLINED { return inputs[r] + 4 * q; },
        sums);
  }
}

/// The same where pixels lie side by side from `x` on.
template <typename V, int kPixels, int kOuts>
[[gnu::always_inline]] inline void AddRun(const BytePanel& panel, const std::uint8_t* x,
                                          const Quad* weights, std::int64_t quads,
                                          TileSums<V, kPixels, kOuts>& sums) {
  for (std::int64_t q = 0; q < quads; ++q, weights += kBlock, x += 4) {
    AddQuad<V, kPixels, kOuts>(
        weights, panel.weights_stride, [&](int r) POPRT_INLINED { return x + r * kBlock; }, sums);
  }
}

/// A cache line of the next panel of each output block, which a tile fetches for every (input
/// block, tap) pair: a quarter of what that has.
constexpr std::int64_t kFetchedByPair = kBlock;

template <int kOuts>
[[gnu::always_inline]] inline void Fetch(const Quad* ahead, std::int64_t weights_stride) {
  constexpr int kSecondLevel = 2;
  tile::Unroll<kOuts>([&](auto o) POPRT_INLINED {
    __builtin_prefetch(ahead + decltype(o)::value * weights_stride, 0, kSecondLevel);
  });
}

/// kPixels pixels by kOuts blocks: the sums over all (input block, tap) pairs stay in registers.
/// kIsRun: of a filter of one tap that meets pixels side by side. `ahead`: the part of the next
/// panel that is fetched.
template <typename V, int kPixels, int kOuts, bool kIsRun>
void ConvolveTile(const BytePanel& panel, const TileTap* taps, std::int64_t tap_count,
                  const Quad* ahead, std::uint8_t* y) {
  TileSums<V, kPixels, kOuts> sums;
  StartSums<V, kPixels, kOuts>(panel.epilogue.bases, sums);
  const std::uint8_t* x = panel.x;
  const Quad* weights = panel.weights;
  for (std::int64_t block = 0; block < panel.blocks; ++block) {
    const std::int64_t quads = block + 1 == panel.blocks ? panel.last_quads : kBlock / 4;
    if constexpr (kIsRun) {
      Fetch<kOuts>(ahead, panel.weights_stride);
      AddRun<V, kPixels, kOuts>(panel, x + taps->inputs[0], weights, quads, sums);
      ahead += kFetchedByPair;
    } else {
      for (std::int64_t t = 0; t < tap_count; ++t, ahead += kFetchedByPair) {
        Fetch<kOuts>(ahead, panel.weights_stride);
        AddTap<V, kPixels, kOuts>(panel, taps[t], x, weights + taps[t].weights / 4, quads, sums);
      }
    }
    x += panel.x_stride;
    weights += panel.taps * (kBlock / 4) * kBlock;
  }
  tile::Unroll<kOuts>([&](auto o) POPRT_INLINED {
    constexpr int kOut = decltype(o)::value;
    StorePixels<V>(sums[kOut], EpilogueOfOut(panel.epilogue, kOut), y + kOut * panel.y_stride);
  });
}

using TileFunction = void (*)(const BytePanel&, const TileTap*, std::int64_t, const Quad*,
                              std::uint8_t*);

/// The tile of 1 to kMost pixels.
template <typename V, int kMost, int kOuts>
TileFunction TileOf(std::int64_t pixels, bool is_run) {
  if constexpr (kMost > 1) {
    if (pixels < kMost) return TileOf<V, kMost - 1, kOuts>(pixels, is_run);
  }
  return is_run ? ConvolveTile<V, kMost, kOuts, true> : ConvolveTile<V, kMost, kOuts, false>;
}

template <typename V>
void Convolve(const BytePanel& panel, const ConvTile* tiles, std::int64_t tile_count,
              const TileTap* taps) {
  std::uint8_t* y = panel.y;
  // Once the next panel has been fetched, prefetches go to this one, which costs nothing.
  const std::int64_t panel_size = panel.blocks * panel.taps * (kBlock / 4) * kBlock;
  std::int64_t fetched = panel.ahead == nullptr ? panel_size : 0;
  for (std::int64_t i = 0; i < tile_count; ++i) {
    const ConvTile& tile = tiles[i];
    const Quad* const ahead = fetched < panel_size ? panel.ahead + fetched : panel.weights;
    fetched += panel.blocks * tile.taps * kFetchedByPair;
    const TileFunction convolve =
        panel.outs == V::kTileOuts
            ? TileOf<V, V::kTilePixels, V::kTileOuts>(tile.pixels, panel.is_run)
            : TileOf<V, V::kTilePixels, 1>(tile.pixels, panel.is_run);
    convolve(panel, taps, tile.taps, ahead, y);
    y += tile.pixels * kBlock;
    taps += tile.taps;
  }
}

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
