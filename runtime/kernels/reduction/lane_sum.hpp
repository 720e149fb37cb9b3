#pragma once

#include <cstdint>

#include "runtime/kernels/elementwise/float_math.hpp"

/// Folding many numbers in a fixed order that vectorises and that keeps rounding errors small: the
/// result depends on the number of elements only, never on the machine or on threads.
namespace poprt::kernels {

/// Folds value(i) for i in [0, n) with an associative `combine`, of which `identity` is neutral, in
/// 16 interleaved lanes that are joined pairwise.
template <typename T, typename Value, typename Combine>
POPRT_INLINE T FoldLanes(std::int64_t n, T identity, const Value& value, const Combine& combine) {
  constexpr int kLanes = 16;
  T lanes[kLanes];
  for (T& lane : lanes) lane = identity;
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = combine(lanes[lane], value(i + lane));
  }
  for (int lane = 0; i + lane < n; ++lane) lanes[lane] = combine(lanes[lane], value(i + lane));
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) {
      lanes[lane] = combine(lanes[lane], lanes[lane + width]);
    }
  }
  return lanes[0];
}

/// Sum of value(i) for i in [0, n): lanes of T over blocks of 2048, the blocks in double.
template <typename T, typename Value>
POPRT_INLINE double LaneSum(std::int64_t n, const Value& value) {
  constexpr std::int64_t kBlock = 2048;
  double total = 0;
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t length = n - begin < kBlock ? n - begin : kBlock;
    total += static_cast<double>(FoldLanes<T>(
        length, T(0), [&](std::int64_t i) { return value(begin + i); },
        [](T a, T b) { return a + b; }));
  }
  return total;
}

}  // namespace poprt::kernels
