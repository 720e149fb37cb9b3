#pragma once

#include <cstdint>

#include "runtime/kernels/blocked/conv_micro_kernels.hpp"
#include "runtime/kernels/blocked/conv_tiles_impl.hpp"
#include "runtime/kernels/blocked/window_tiles_impl.hpp"

// ConvMicroKernels written once over a vector type V of 8 or 16 floats, as GemmMicroKernels are. V
// has what vector_type.hpp lists (but for KeepFirst and Even), AccumulateFrom(acc, a, const float*
// b), MaxOrNan(a, b), Join(a, b, n) (the first n lanes of a, the others of b), kUnrolls: whether
// code is unrolled as far as registers go, and an Eight that has all of these, too, of whose lanes
// Low(x) are the first eight of x where V has more.
namespace poprt::kernels::tile {

/// Calls f(first pixel, count of pixels, first channel) for squares of V::kLanes pixels and
/// channels. Those of the same cache lines of planes, which may compete for a place in the cache,
/// follow each other.
template <class V, class F>
[[gnu::always_inline]] inline void EachSquare(std::int64_t pixels, std::int64_t channels, F f) {
  for (std::int64_t first = 0; first < pixels; first += kBlock) {
    const std::int64_t last = pixels - first < kBlock ? pixels : first + kBlock;
    for (std::int64_t c = 0; c < channels; c += V::kLanes) {
      for (std::int64_t p = first; p < last; p += V::kLanes) {
        f(p, pixels - p < V::kLanes ? pixels - p : V::kLanes, c);
      }
    }
  }
}

template <class V>
void Block(const float* x, std::int64_t plane, std::int64_t channels, std::int64_t pixels,
           float* y) {
  EachSquare<V>(pixels, kBlock, [&](std::int64_t p, std::int64_t count, std::int64_t c) {
    typename V::Register lines[V::kLanes];
    for (int i = 0; i < V::kLanes; ++i) {
      lines[i] = c + i < channels ? LoadFirst<V>(x + (c + i) * plane + p, count) : V::Zero();
    }
    V::Transpose(lines);
    for (std::int64_t i = 0; i < count; ++i) V::Store(lines[i], y + (p + i) * kBlock + c);
  });
}

template <class V>
void Unblock(const float* x, std::int64_t plane, std::int64_t channels, std::int64_t pixels,
             float* y) {
  EachSquare<V>(pixels, channels, [&](std::int64_t p, std::int64_t count, std::int64_t c) {
    typename V::Register lines[V::kLanes];
    for (int i = 0; i < V::kLanes; ++i) {
      lines[i] = i < count ? V::Load(x + (p + i) * kBlock + c) : V::Zero();
    }
    V::Transpose(lines);
    for (std::int64_t i = 0; i < V::kLanes && c + i < channels; ++i) {
      StoreFirst<V>(lines[i], y + (c + i) * plane + p, count);
    }
  });
}

template <class V>
inline constexpr ConvMicroKernels kConvMicroKernels = {
    .outs = V::kPanels,
    .pixels = V::kRows,
    .conv_f32 = Conv<V, float>,
    .conv_f16 = Conv<V, std::uint16_t>,
    .finish = FinishSums<V>,
    .planes_f32 = Planes<V, float>,
    .planes_f16 = Planes<V, std::uint16_t>,
    .pointwise_f32 = Pointwise<V, float>,
    .pointwise_f16 = Pointwise<V, std::uint16_t>,
    .depthwise_f32 = Depthwise<V, float>,
    .depthwise_f16 = Depthwise<V, std::uint16_t>,
    .depthwise_line_f32 = DepthwiseLineOf<V, float>,
    .depthwise_line_f16 = DepthwiseLineOf<V, std::uint16_t>,
    .maximum = Maximum<V>,
    .maximum_or_nan = MaximumOrNan<V>,
    .holds_nan = HoldsNan<V>,
    .average = Average<V>,
    .moments = Moments<V>,
    .block = Block<typename V::Eight>,
    .unblock = Unblock<typename V::Eight>};

}  // namespace poprt::kernels::tile
