#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/kernels/blocked/conv_micro_kernels.hpp"
#include "runtime/kernels/blocked/tile_sums_impl.hpp"

// Tiles of convolutions that sum over channels, over a vector type V, see
// conv_micro_kernels_impl.hpp.
namespace poprt::kernels::tile {

// ---- Convolution -----------------------------------------------------------------------------

/// Weights of a cache line.
template <class W>
inline constexpr std::int64_t kLine = 64 / sizeof(W);
/// Weights of the next panel that a tile fetches for every (input block, tap) pair.
template <class W>
inline constexpr std::int64_t kFetchedByPair = 2 * kLine<W>;
/// The same for a tile of single pixels and every four channels.
template <class W>
inline constexpr std::int64_t kFetchedByStep = kLine<W>;
/// From a tile of single pixels to the inputs that it fetches, which large images have in memory.
inline constexpr std::int64_t kPixelsAhead = 32;
/// From so many channels on a small tile fetches its own pixels of the next block instead: these
/// are more blocks, each in pages of its own, than the processor follows by itself.
inline constexpr std::int64_t kManyChannels = 192;

/// One input channel or tap: sums += inputs[.][offset] * weights[.] of every output block.
template <int kChain, class V, int kPixels, class W, int kPanels, int kWidth, int kCount>
[[gnu::always_inline]] inline void SumStep(const float* const (&inputs)[kPixels],
                                           std::int64_t offset, const W* weights,
                                           std::int64_t weights_step,
                                           TileSums<V, kPixels, kPanels, kWidth, kCount>& sums) {
  constexpr int kRowWidth = kPanels * kWidth;
  typename V::Register columns[kRowWidth];
  Unroll<kRowWidth>([&](auto v) POPRT_INLINED {
    constexpr int kV = decltype(v)::value;
    columns[kV] = V::Load(weights + kV / kWidth * weights_step + kV % kWidth * V::kLanes);
  });
  Unroll<kPixels>([&](auto r) POPRT_INLINED {
    constexpr int kR = decltype(r)::value;
    const auto factor = V::template Repeat<kRowWidth>(inputs[kR] + offset);
    Unroll<kRowWidth>([&](auto v) POPRT_INLINED {
      constexpr int kV = decltype(v)::value;
      V::Accumulate(sums.chain[kChain][kR][kV], factor, columns[kV]);
    });
  });
}

/// The same of a block and half of the next.
template <int kChain, class V, int kPixels, class W, int kCount>
[[gnu::always_inline]] inline void SumStep(const float* const (&inputs)[kPixels],
                                           std::int64_t offset, const W* weights,
                                           std::int64_t weights_step,
                                           TileAndHalfSums<V, kPixels, kCount>& sums) {
  const auto column = V::Load(weights);
  const auto half_column = V::Eight::Load(weights + weights_step);
  Unroll<kPixels>([&](auto r) POPRT_INLINED {
    constexpr int kR = decltype(r)::value;
    const auto factor = V::Set(inputs[kR][offset]);
    V::Accumulate(sums.whole.chain[kChain][kR][0], factor, column);
    V::Eight::Accumulate(sums.half.chain[kChain][kR][0], V::Low(factor), half_column);
  });
}

template <int kSteps, int kPixels, class W, class Sums>
[[gnu::always_inline]] inline void ConvSteps(const float* const (&inputs)[kPixels],
                                             const W* weights, std::int64_t weights_step,
                                             Sums& sums) {
  Unroll<kSteps>([&](auto s) POPRT_INLINED {
    constexpr int kS = decltype(s)::value;
    SumStep<kS % Sums::kChainCount>(inputs, kS, weights + kS * kBlock, weights_step, sums);
  });
}

/// The first `channels` of a block.
template <class V, int kPixels, class W, class Sums>
[[gnu::always_inline]] inline void ConvChannels(const float* (&inputs)[kPixels], const W* weights,
                                                std::int64_t weights_step, std::int64_t channels,
                                                Sums& sums) {
  const auto steps = [&](auto count) POPRT_INLINED {
    constexpr int kSteps = decltype(count)::value;
    ConvSteps<kSteps>(inputs, weights, weights_step, sums);
    Unroll<kPixels>([&](auto r) POPRT_INLINED { inputs[decltype(r)::value] += kSteps; });
    weights += kSteps * kBlock;
  };
  if constexpr (V::kUnrolls) {
    for (; channels >= 4; channels -= 4) steps(std::integral_constant<int, 4>{});
  }
  for (; channels > 0; --channels) steps(std::integral_constant<int, 1>{});
}

/// All taps of one input block: sums = steps(inputs of a tap, its weights). Each fetches its part
/// of the next panel of each output block from `ahead` on.
template <int kPixels, int kBlocks, class W, class Steps>
[[gnu::always_inline]] inline void ConvTaps(const ConvPanel& panel, const float* x,
                                            const TileTap* taps, std::int64_t tap_count,
                                            const W* weights, const W* ahead, Steps steps) {
  for (std::int64_t t = 0; t < tap_count; ++t) {
    const TileTap& tap = taps[t];
    const float* inputs[kPixels];
    Unroll<kPixels>([&](auto r) POPRT_INLINED {
      constexpr int kR = decltype(r)::value;
      const std::int32_t offset = tap.inputs[kR];
      inputs[kR] = offset == kPadding ? kZeros : x + offset;
      __builtin_prefetch(inputs[kR] + panel.x_stride);
    });
    for (int p = 0; p < kBlocks; ++p) {
      for (std::int64_t i = 0; i < kFetchedByPair<W>; i += kLine<W>) {
        __builtin_prefetch(ahead + p * panel.outputs.weights + i);
      }
    }
    ahead += kFetchedByPair<W>;
    steps(inputs, weights + tap.weights);
  }
}

/// A tile: the sum over the (input block, tap) pairs stays in registers. `ahead` points to the part
/// of the next panel that this tile fetches.
template <int kPixels, class Sums, class W>
void ConvTileOf(const ConvPanel& panel, const TileTap* taps, std::int64_t tap_count,
                std::int64_t pixel, const W* ahead) {
  using V = typename Sums::Vector;
  Sums sums;
  sums.Start(panel.start + pixel * panel.start_step, panel.start_step, panel.start_block);
  const std::int64_t weights_step = panel.outputs.weights;
  const float* x = panel.x;
  const W* weights = static_cast<const W*>(panel.weights);
  const bool partial = panel.last_channels < kBlock;
  for (std::int64_t whole = panel.blocks - (partial ? 1 : 0); whole > 0; --whole) {
    ConvTaps<kPixels, Sums::kBlocks>(
        panel, x, taps, tap_count, weights, ahead,
        [&](const float*(&inputs)[kPixels], const W* of_tap) POPRT_INLINED {
          if constexpr (V::kUnrolls) {
            ConvSteps<kBlock>(inputs, of_tap, weights_step, sums);
          } else {
            ConvChannels<V>(inputs, of_tap, weights_step, kBlock, sums);
          }
        });
    x += panel.x_stride;
    weights += panel.weights_stride;
    ahead += tap_count * kFetchedByPair<W>;
  }
  if (partial) {
    ConvTaps<kPixels, Sums::kBlocks>(
        panel, x, taps, tap_count, weights, ahead,
        [&](const float*(&inputs)[kPixels], const W* of_tap) POPRT_INLINED {
          ConvChannels<V>(inputs, of_tap, weights_step, panel.last_channels, sums);
        });
  }
  FinishPixels<kPixels>(sums, panel.epilogue, pixel * kBlock, panel.y, panel.outputs);
}

template <class V, class W>
void Conv(const ConvPanel& panel, const ConvTile* tiles, std::int64_t tile_count,
          const TileTap* taps) {
  // Once the next panel has been fetched, prefetches go to this one, which costs nothing.
  const std::int64_t panel_size = panel.blocks * panel.weights_stride;
  const W* const weights = static_cast<const W*>(panel.weights);
  const W* const next = static_cast<const W*>(panel.ahead);
  std::int64_t fetched = next == nullptr ? panel_size : 0;
  std::int64_t pixel = 0;
  for (std::int64_t i = 0; i < tile_count; ++i) {
    const ConvTile& tile = tiles[i];
    const W* const ahead = fetched < panel_size ? next + fetched : weights;
    WithRows<V::kRows>(tile.pixels, [&](auto pixels) POPRT_INLINED {
      constexpr int kPixels = decltype(pixels)::value;
      WithSums<V, kPixels>(panel.outputs.count, panel.outputs.last_is_half,
                           [&]<class Sums>(std::type_identity<Sums>) POPRT_INLINED {
                             ConvTileOf<kPixels, Sums>(panel, taps, tile.taps, pixel, ahead);
                           });
    });
    pixel += tile.pixels;
    taps += tile.taps;
    fetched += panel.blocks * tile.taps * kFetchedByPair<W>;
  }
}

// ---- Convolution of planes -------------------------------------------------------------------

template <int kPixels, class Sums, class W>
void PlanesTile(const PlanesPanel& panel, const std::int32_t* offsets, std::int64_t pixel) {
  constexpr int kCount = Sums::kChainCount;
  Sums sums;
  sums.Start(panel.bias, 0, kBlock);
  const float* inputs[kPixels];
  Unroll<kPixels>([&](auto r) POPRT_INLINED {
    constexpr int kR = decltype(r)::value;
    inputs[kR] = panel.x + offsets[kR];
  });
  const W* weights = static_cast<const W*>(panel.weights);
  const std::int64_t weights_step = panel.outputs.weights;
  const std::int32_t* taps = panel.tap_offsets;
  std::int64_t left = panel.taps;
  for (; left >= kCount; left -= kCount) {
    Unroll<kCount>([&](auto c) POPRT_INLINED {
      constexpr int kC = decltype(c)::value;
      SumStep<kC>(inputs, taps[kC], weights + kC * kBlock, weights_step, sums);
    });
    taps += kCount;
    weights += kCount * kBlock;
  }
  for (; left > 0; --left) {
    SumStep<0>(inputs, *taps++, weights, weights_step, sums);
    weights += kBlock;
  }
  FinishPixels<kPixels>(sums, panel.epilogue, pixel * kBlock, panel.y, panel.outputs);
}

template <class V, class W>
void Planes(const PlanesPanel& panel, const std::int32_t* offsets, std::int64_t pixels) {
  EachTile<V>(pixels, [&](auto count, std::int64_t pixel) POPRT_INLINED {
    constexpr int kPixels = decltype(count)::value;
    WithSums<V, kPixels>(panel.outputs.count, panel.outputs.last_is_half,
                         [&]<class Sums>(std::type_identity<Sums>) POPRT_INLINED {
                           PlanesTile<kPixels, Sums, W>(panel, offsets + pixel, pixel);
                         });
  });
}

// ---- Convolution of single pixels --------------------------------------------------------------

/// Some pixels by the lanes of the panel: Sums holds the vectors of each block that have some.
/// `ahead` points to the part of the next panel that this tile fetches.
template <int kPixels, class Sums, class W>
void PointwiseTile(const PointwisePanel& panel, std::int64_t pixel, const W* ahead) {
  using V = typename Sums::Vector;
  constexpr int kUnrolled = V::kUnrolls ? 4 : 1;
  const std::int64_t first_vector = panel.first_lane / V::kLanes * V::kLanes;
  const std::int64_t kept_lanes = panel.first_lane - first_vector;
  constexpr int kCount = Sums::kChainCount;
  Sums sums;
  sums.Start(panel.bias + first_vector, 0, kBlock);
  const float* inputs[kPixels];
  Unroll<kPixels>([&](auto r) POPRT_INLINED {
    constexpr int kR = decltype(r)::value;
    inputs[kR] = panel.x + (pixel + kR) * kBlock;
  });
  const W* weights = static_cast<const W*>(panel.weights) + first_vector;
  const std::int64_t weights_step = panel.outputs.weights;
  const std::int32_t* offsets = panel.channel_offsets;
  std::int64_t left = panel.channels;
  const auto unrolled = [&](auto step) POPRT_INLINED {
    for (; left >= kUnrolled; left -= kUnrolled) {
      Unroll<kUnrolled>(step);
      for (int p = 0; p < Sums::kBlocks; ++p) __builtin_prefetch(ahead + p * weights_step);
      ahead += kFetchedByStep<W>;
      offsets += kUnrolled;
      weights += kUnrolled * kBlock;
    }
  };
  const bool fetches_own = V::kPanels == 1 && panel.channels >= kManyChannels;
  const std::int64_t to_fetched =
      fetches_own ? offsets[kBlock] - offsets[0] : kPixelsAhead * kBlock;
  if (panel.in_fours) {
    unrolled([&](auto s) POPRT_INLINED {
      constexpr int kS = decltype(s)::value;
      const float* four[kPixels];
      Unroll<kPixels>([&](auto r) POPRT_INLINED {
        constexpr int kR = decltype(r)::value;
        four[kR] = inputs[0] + offsets[0] + kR * kBlock;
      });
      if constexpr (V::kUnrolls && kPixels == V::kRows && kS % 2 == 0) {
        // Two lines for every four channels are a tile of each block.
        const std::int64_t lane = offsets[0] % kBlock;
        const std::int64_t line = lane / 2 + kS / 2;
        __builtin_prefetch(inputs[0] + offsets[0] - lane + to_fetched + line * kBlock);
      }
      SumStep<kS % kCount>(four, kS, weights + kS * kBlock, weights_step, sums);
    });
  } else {
    unrolled([&](auto s) POPRT_INLINED {
      constexpr int kS = decltype(s)::value;
      SumStep<kS % kCount>(inputs, offsets[kS], weights + kS * kBlock, weights_step, sums);
    });
  }
  for (; left > 0; --left) {
    SumStep<0>(inputs, *offsets++, weights, weights_step, sums);
    weights += kBlock;
  }

  const std::int64_t at = pixel * kBlock + first_vector;
  float* const y = panel.y + at;
  float kept[kPixels * V::kLanes];
  for (int r = 0; kept_lanes > 0 && r < kPixels; ++r) {
    V::Store(V::Load(y + r * kBlock), kept + r * V::kLanes);
  }
  FinishPixels<kPixels>(sums, panel.epilogue, at, panel.y, panel.outputs);
  for (int r = 0; kept_lanes > 0 && r < kPixels; ++r) {
    const auto other = V::Load(kept + r * V::kLanes);
    V::Store(V::Join(other, V::Load(y + r * kBlock), kept_lanes), y + r * kBlock);
  }
}

template <class V, class W>
void Pointwise(const PointwisePanel& panel, std::int64_t pixels) {
  constexpr std::int64_t kHalf = V::Eight::kLanes;
  // Other groups may have the other half.
  const bool needs_half = panel.last_lane <= kHalf || panel.first_lane >= kHalf;
  // Once the next panel has been fetched, prefetches go to this one, which costs nothing.
  const std::int64_t panel_size = panel.channels * kBlock;
  const W* const weights = static_cast<const W*>(panel.weights);
  const W* const next = static_cast<const W*>(panel.ahead);
  std::int64_t fetched = next == nullptr ? panel_size : 0;
  EachTile<V>(pixels, [&](auto count, std::int64_t pixel) POPRT_INLINED {
    constexpr int kPixels = decltype(count)::value;
    const W* const ahead = fetched < panel_size ? next + fetched : weights;
    fetched += panel.channels / 4 * kFetchedByStep<W>;
    WithSums<V, kPixels>(panel.outputs.count, needs_half,
                         [&]<class Sums>(std::type_identity<Sums>)
                             POPRT_INLINED { PointwiseTile<kPixels, Sums>(panel, pixel, ahead); });
  });
}

}  // namespace poprt::kernels::tile
