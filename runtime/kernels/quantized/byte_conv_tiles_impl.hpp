#pragma once

#include "runtime/kernels/packed/register_tile.hpp"
#include "runtime/kernels/quantized/byte_tile_impl.hpp"

/// Convolutions of bytes in blocks of channels that sum over channels, over a vector type V, see
/// byte_tile_impl.hpp.
namespace poprt::kernels {
namespace {

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

template <typename V, int kOuts, bool kIsRun>
void ConvolveTiles(const BytePanel& panel, const ConvTile* tiles, std::int64_t tile_count,
                   const TileTap* taps) {
  std::uint8_t* y = panel.y;
  // Once the next panel has been fetched, prefetches go to this one, which costs nothing.
  std::int64_t fetched = panel.ahead == nullptr ? panel.weights_stride : 0;
  for (std::int64_t i = 0; i < tile_count; ++i) {
    const ConvTile& tile = tiles[i];
    const Quad* const ahead =
        fetched < panel.weights_stride ? panel.ahead + fetched : panel.weights;
    tile::WithRows<V::kTilePixels>(tile.pixels, [&](auto pixels) POPRT_INLINED {
      ConvolveTile<V, decltype(pixels)::value, kOuts, kIsRun>(panel, taps, tile.taps, ahead, y);
    });
    fetched += panel.blocks * tile.taps * kFetchedByPair;
    y += tile.pixels * kBlock;
    taps += tile.taps;
  }
}

template <typename V, int kOuts>
void ConvolveOuts(const BytePanel& panel, const ConvTile* tiles, std::int64_t tile_count,
                  const TileTap* taps) {
  if (panel.is_run) return ConvolveTiles<V, kOuts, true>(panel, tiles, tile_count, taps);
  ConvolveTiles<V, kOuts, false>(panel, tiles, tile_count, taps);
}

template <typename V>
void Convolve(const BytePanel& panel, const ConvTile* tiles, std::int64_t tile_count,
              const TileTap* taps) {
  if (panel.outs == V::kTileOuts) {
    return ConvolveOuts<V, V::kTileOuts>(panel, tiles, tile_count, taps);
  }
  ConvolveOuts<V, 1>(panel, tiles, tile_count, taps);
}

}  // namespace
}  // namespace poprt::kernels
