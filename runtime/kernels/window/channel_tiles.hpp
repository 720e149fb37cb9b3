#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/kernels/elementwise/float_math.hpp"

namespace poprt::kernels {

/// Positions that MultiplyChannels computes together.
inline constexpr std::int64_t kChannelLanes = 32;

/// kRows channels at kChannelLanes neighbouring positions.
template <std::int64_t kRows, typename Acc, typename OffsetOf>
POPRT_INLINE void MultiplyChannelTile(const Acc* in, const OffsetOf& offset_of, const Acc* weights,
                                      std::int64_t count, Acc* out, std::int64_t pitch) {
  Acc sums[kRows][kChannelLanes] = {};
  for (std::int64_t t = 0; t < count; ++t) {
    const Acc* from = in + offset_of(t);
    for (std::int64_t r = 0; r < kRows; ++r) {
      for (std::int64_t lane = 0; lane < kChannelLanes; ++lane)
        sums[r][lane] += weights[r * count + t] * from[lane];
    }
  }
  for (std::int64_t r = 0; r < kRows; ++r) std::copy_n(sums[r], kChannelLanes, out + r * pitch);
}

/// out[r * pitch + lane] = sum over t < count of in[offset_of(t) + lane] * weights[r * count + t]
/// for `rows` channels and `lanes` positions, a multiple of kChannelLanes. Within RunWide sums stay
/// in registers.
template <typename Acc, typename OffsetOf>
POPRT_INLINE void MultiplyChannels(std::int64_t rows, std::int64_t lanes, const Acc* in,
                                   const OffsetOf& offset_of, const Acc* weights,
                                   std::int64_t count, Acc* out, std::int64_t pitch) {
  // All channels of some positions, which stay in the first-level cache.
  for (std::int64_t i = 0; i < lanes; i += kChannelLanes) {
    std::int64_t r = 0;
    const auto multiply = [&]<std::int64_t kRows>() {
      for (; r + kRows <= rows; r += kRows) {
        MultiplyChannelTile<kRows>(in + i, offset_of, weights + r * count, count,
                                   out + r * pitch + i, pitch);
      }
    };
    multiply.template operator()<4>();
    multiply.template operator()<2>();
    multiply.template operator()<1>();
  }
}

}  // namespace poprt::kernels
