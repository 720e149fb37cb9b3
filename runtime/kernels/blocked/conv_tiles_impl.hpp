#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/kernels/blocked/blocked_tiles.hpp"
#include "runtime/kernels/blocked/tile_sums_impl.hpp"

// Tiles of convolutions that sum over channels, over a vector type V, see blocked_tiles_impl.hpp.
namespace poprt::kernels::tile {

// As in tile_kernels_impl.hpp.
#define POPRT_INLINE __attribute__((always_inline))

// ---- Convolution -----------------------------------------------------------------------------

/// Bytes of the next panel that a tile fetches for every (input block, tap) pair.
inline constexpr int kFetchedByPair = 128;

/// Bytes of the next panel that a tile of single pixels fetches for every four channels.
inline constexpr int kFetchedByStep = 64;

/// One input channel: sums += inputs[.][kChannel] * weights[kChannel][.].
template <class V, int kChannel, int kPixels, class W>
[[gnu::always_inline]] inline void ConvStep(const float* const (&inputs)[kPixels], const W* weights,
                                            TileSums<V, kPixels>& sums) {
  constexpr int kChain = kChannel % kChains<kPixels, kVectors<V>>;
  typename V::Register columns[kVectors<V>];
  Unroll<kVectors<V>>([&](auto v) POPRT_INLINE {
    constexpr int kV = decltype(v)::value;
    columns[kV] = V::Load(weights + kChannel * kBlock + kV * V::kLanes);
  });
  Unroll<kPixels>([&](auto r) POPRT_INLINE {
    constexpr int kR = decltype(r)::value;
    const auto factor = V::Repeat(inputs[kR] + kChannel);
    Unroll<kVectors<V>>([&](auto v) POPRT_INLINE {
      constexpr int kV = decltype(v)::value;
      V::Accumulate(sums.chain[kChain][kR][kV], factor, columns[kV]);
    });
  });
}

template <class V, int kSteps, int kPixels, class W>
[[gnu::always_inline]] inline void ConvSteps(const float* const (&inputs)[kPixels],
                                             const W* weights, TileSums<V, kPixels>& sums) {
  Unroll<kSteps>([&](auto s)
                     POPRT_INLINE { ConvStep<V, decltype(s)::value>(inputs, weights, sums); });
}

/// The first `channels` of a block.
template <class V, int kPixels, class W>
[[gnu::always_inline]] inline void ConvChannels(const float* (&inputs)[kPixels], const W* weights,
                                                std::int64_t channels, TileSums<V, kPixels>& sums) {
  const auto steps = [&](auto count) POPRT_INLINE {
    constexpr int kSteps = decltype(count)::value;
    ConvSteps<V, kSteps>(inputs, weights, sums);
    Unroll<kPixels>([&](auto r) POPRT_INLINE { inputs[decltype(r)::value] += kSteps; });
    weights += kSteps * kBlock;
  };
  if constexpr (V::kUnrolls) {
    for (; channels >= 4; channels -= 4) steps(std::integral_constant<int, 4>{});
  }
  for (; channels > 0; --channels) steps(std::integral_constant<int, 1>{});
}

/// All taps of one input block: sums = steps(inputs of a tap, its weights). Each fetches its part
/// of the next panel from `ahead` on.
template <int kPixels, class W, class Steps>
[[gnu::always_inline]] inline void ConvTaps(const float* x, std::int64_t x_stride,
                                            const TileTap* taps, std::int64_t tap_count,
                                            const W* weights, const char* ahead, Steps steps) {
  for (std::int64_t t = 0; t < tap_count; ++t) {
    const TileTap& tap = taps[t];
    const float* inputs[kPixels];
    Unroll<kPixels>([&](auto r) POPRT_INLINE {
      constexpr int kR = decltype(r)::value;
      const std::int32_t offset = tap.inputs[kR];
      inputs[kR] = offset == kPadding ? kZeros : x + offset;
      __builtin_prefetch(inputs[kR] + x_stride);
    });
    for (int i = 0; i < kFetchedByPair; i += 64) __builtin_prefetch(ahead + i);
    ahead += kFetchedByPair;
    steps(inputs, weights + tap.weights);
  }
}

/// A tile of one panel: the sum over the (input block, tap) pairs stays in registers. `ahead`
/// points to the part of the next panel that this tile fetches.
template <class V, int kPixels, class W>
void ConvTileOf(const ConvPanel& panel, const TileTap* taps, std::int64_t tap_count,
                std::int64_t pixel, const char* ahead) {
  TileSums<V, kPixels> sums;
  sums.Start(panel.start + pixel * panel.start_step, panel.start_step);
  const float* x = panel.x;
  const W* weights = static_cast<const W*>(panel.weights);
  const bool partial = panel.last_channels < kBlock;
  for (std::int64_t whole = panel.blocks - (partial ? 1 : 0); whole > 0; --whole) {
    ConvTaps<kPixels>(x, panel.x_stride, taps, tap_count, weights, ahead,
                      [&](const float*(&inputs)[kPixels], const W* of_tap) POPRT_INLINE {
                        if constexpr (V::kUnrolls) {
                          ConvSteps<V, kBlock>(inputs, of_tap, sums);
                        } else {
                          ConvChannels<V>(inputs, of_tap, kBlock, sums);
                        }
                      });
    x += panel.x_stride;
    weights += panel.weights_stride;
    ahead += tap_count * kFetchedByPair;
  }
  if (partial) {
    ConvTaps<kPixels>(x, panel.x_stride, taps, tap_count, weights, ahead,
                      [&](const float*(&inputs)[kPixels], const W* of_tap) POPRT_INLINE {
                        ConvChannels<V>(inputs, of_tap, panel.last_channels, sums);
                      });
  }
  FinishTile(sums, panel.epilogue, pixel * kBlock, kBlock, panel.y);
}

template <class V, class W>
void Conv(const ConvPanel& panel, const ConvTile* tiles, std::int64_t tile_count,
          const TileTap* taps) {
  // Once the next panel has been fetched, prefetches go to this one, which costs nothing.
  const auto panel_bytes =
      static_cast<std::int64_t>(sizeof(W)) * panel.blocks * panel.weights_stride;
  const char* const weights = static_cast<const char*>(panel.weights);
  const char* const next = static_cast<const char*>(panel.ahead);
  std::int64_t fetched = next == nullptr ? panel_bytes : 0;
  std::int64_t pixel = 0;
  for (std::int64_t i = 0; i < tile_count; ++i) {
    const ConvTile& tile = tiles[i];
    const char* const ahead = fetched < panel_bytes ? next + fetched : weights;
    WithPixels(tile.pixels, [&](auto pixels) POPRT_INLINE {
      ConvTileOf<V, decltype(pixels)::value, W>(panel, taps, tile.taps, pixel, ahead);
    });
    pixel += tile.pixels;
    taps += tile.taps;
    fetched += panel.blocks * tile.taps * kFetchedByPair;
  }
}

// ---- Convolution of planes -------------------------------------------------------------------

/// One tap, as ConvStep.
template <class V, int kChain, int kPixels, class W, int kCount, int kWidth>
[[gnu::always_inline]] inline void PlanesStep(const float* const (&inputs)[kPixels],
                                              std::int64_t offset, const W* weights,
                                              TileSums<V, kPixels, kCount, kWidth>& sums) {
  typename V::Register columns[kWidth];
  Unroll<kWidth>([&](auto v) POPRT_INLINE {
    constexpr int kV = decltype(v)::value;
    columns[kV] = V::Load(weights + kV * V::kLanes);
  });
  Unroll<kPixels>([&](auto r) POPRT_INLINE {
    constexpr int kR = decltype(r)::value;
    const auto factor = V::Repeat(inputs[kR] + offset);
    Unroll<kWidth>([&](auto v) POPRT_INLINE {
      constexpr int kV = decltype(v)::value;
      V::Accumulate(sums.chain[kChain][kR][kV], factor, columns[kV]);
    });
  });
}

template <class V, int kPixels, class W>
void PlanesTile(const PlanesPanel& panel, const std::int32_t* offsets, std::int64_t pixel) {
  constexpr int kCount = kChains<kPixels, kVectors<V>>;
  TileSums<V, kPixels> sums;
  sums.Start(panel.bias, 0);
  const float* inputs[kPixels];
  Unroll<kPixels>([&](auto r) POPRT_INLINE {
    constexpr int kR = decltype(r)::value;
    inputs[kR] = panel.x + offsets[kR];
  });
  const W* weights = static_cast<const W*>(panel.weights);
  const std::int32_t* taps = panel.tap_offsets;
  std::int64_t left = panel.taps;
  for (; left >= kCount; left -= kCount) {
    Unroll<kCount>([&](auto c) POPRT_INLINE {
      constexpr int kC = decltype(c)::value;
      PlanesStep<V, kC>(inputs, taps[kC], weights + kC * kBlock, sums);
    });
    taps += kCount;
    weights += kCount * kBlock;
  }
  for (; left > 0; --left) {
    PlanesStep<V, 0>(inputs, *taps++, weights, sums);
    weights += kBlock;
  }
  FinishTile(sums, panel.epilogue, pixel * kBlock, kBlock, panel.y);
}

template <class V, class W>
void Planes(const PlanesPanel& panel, const std::int32_t* offsets, std::int64_t pixels) {
  EachTile<V>(pixels, [&](auto count, std::int64_t pixel) POPRT_INLINE {
    PlanesTile<V, decltype(count)::value, W>(panel, offsets + pixel, pixel);
  });
}

// ---- Convolution of single pixels --------------------------------------------------------------

/// Some pixels by the kWidth vectors that hold the lanes of the panel. `ahead` points to the part
/// of the next panel that this tile fetches.
template <class V, int kPixels, int kWidth, class W>
void PointwiseTile(const PointwisePanel& panel, std::int64_t pixel, const char* ahead) {
  // In narrow tiles too: channels with the same weights get the same bits wherever they stand.
  constexpr int kCount = kChains<kPixels, kVectors<V>>;
  constexpr int kUnrolled = V::kUnrolls ? 4 : 1;
  const std::int64_t first_vector = panel.first_lane / V::kLanes * V::kLanes;
  const std::int64_t kept_lanes = panel.first_lane - first_vector;
  TileSums<V, kPixels, kCount, kWidth> sums;
  sums.Start(panel.bias + first_vector, 0);
  const float* inputs[kPixels];
  Unroll<kPixels>([&](auto r) POPRT_INLINE {
    constexpr int kR = decltype(r)::value;
    inputs[kR] = panel.x + (pixel + kR) * kBlock;
  });
  const W* weights = static_cast<const W*>(panel.weights) + first_vector;
  const std::int32_t* offsets = panel.channel_offsets;
  std::int64_t left = panel.channels;
  for (; left >= kUnrolled; left -= kUnrolled) {
    Unroll<kUnrolled>([&](auto s) POPRT_INLINE {
      constexpr int kS = decltype(s)::value;
      PlanesStep<V, kS % kCount>(inputs, offsets[kS], weights + kS * kBlock, sums);
    });
    __builtin_prefetch(ahead);
    ahead += kFetchedByStep;
    offsets += kUnrolled;
    weights += kUnrolled * kBlock;
  }
  for (; left > 0; --left) {
    PlanesStep<V, 0>(inputs, *offsets++, weights, sums);
    weights += kBlock;
  }

  const std::int64_t at = pixel * kBlock + first_vector;
  float* const y = panel.y + at;
  float kept[kPixels * V::kLanes];
  for (int r = 0; kept_lanes > 0 && r < kPixels; ++r) {
    V::Store(V::Load(y + r * kBlock), kept + r * V::kLanes);
  }
  FinishTile(sums, panel.epilogue, at, kBlock, panel.y);
  for (int r = 0; kept_lanes > 0 && r < kPixels; ++r) {
    const auto other = V::Load(kept + r * V::kLanes);
    V::Store(V::Join(other, V::Load(y + r * kBlock), kept_lanes), y + r * kBlock);
  }
}

template <class V, class W>
void Pointwise(const PointwisePanel& panel, std::int64_t pixels) {
  const bool is_narrow = panel.first_lane / V::kLanes == (panel.last_lane - 1) / V::kLanes;
  // Once the next panel has been fetched, prefetches go to this one, which costs nothing.
  const auto panel_bytes = static_cast<std::int64_t>(sizeof(W)) * panel.channels * kBlock;
  const char* const weights = static_cast<const char*>(panel.weights);
  const char* const next = static_cast<const char*>(panel.ahead);
  std::int64_t fetched = next == nullptr ? panel_bytes : 0;
  EachTile<V>(pixels, [&](auto count, std::int64_t pixel) POPRT_INLINE {
    constexpr int kPixels = decltype(count)::value;
    const char* const ahead = fetched < panel_bytes ? next + fetched : weights;
    fetched += panel.channels / 4 * kFetchedByStep;
    if (is_narrow) return PointwiseTile<V, kPixels, 1, W>(panel, pixel, ahead);
    PointwiseTile<V, kPixels, kVectors<V>, W>(panel, pixel, ahead);
  });
}

}  // namespace poprt::kernels::tile

#undef POPRT_INLINE
