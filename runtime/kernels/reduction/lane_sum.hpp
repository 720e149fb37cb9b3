#pragma once

#include <cstdint>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/parallel.hpp"

/// Folding many numbers in a fixed order that vectorises and that keeps rounding errors small: the
/// result depends on the number of elements only, never on the machine or on threads.
namespace poprt::kernels {

/// Lanes that numbers are folded in side by side.
inline constexpr int kFoldLanes = 16;

/// Folds value(i) for i in [0, n) into kFoldLanes interleaved lanes with an associative `combine`,
/// of which `identity` is neutral.
template <typename T, typename Value, typename Combine>
POPRT_INLINE void FoldIntoLanes(std::int64_t n, T identity, const Value& value,
                                const Combine& combine, T* lanes) {
  T local[kFoldLanes];
  for (T& lane : local) lane = identity;
  std::int64_t i = 0;
  for (; i + kFoldLanes <= n; i += kFoldLanes) {
    POPRT_LANE_LOOP
    for (int lane = 0; lane < kFoldLanes; ++lane) {
      local[lane] = combine(local[lane], value(i + lane));
    }
  }
  if (i > 0 && i < n) {
    // Whole vectors without branches: what was folded already is neutral.
    const auto seen = static_cast<int>(i + kFoldLanes - n);
    POPRT_LANE_LOOP
    for (int lane = 0; lane < kFoldLanes; ++lane) {
      const T last = value(n - kFoldLanes + lane);
      local[lane] = combine(local[lane], Select(lane < seen, identity, last));
    }
  } else {
    for (int lane = 0; i + lane < n; ++lane) local[lane] = combine(local[lane], value(i + lane));
  }
  for (int lane = 0; lane < kFoldLanes; ++lane) lanes[lane] = local[lane];
}

/// Folds value(i) for i in [0, n) in the lanes of FoldIntoLanes, which are joined pairwise.
template <typename T, typename Value, typename Combine>
POPRT_INLINE T FoldLanes(std::int64_t n, T identity, const Value& value, const Combine& combine) {
  T lanes[kFoldLanes];
  FoldIntoLanes(n, identity, value, combine, lanes);
  for (int width = kFoldLanes / 2; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) {
      lanes[lane] = combine(lanes[lane], lanes[lane + width]);
    }
  }
  return lanes[0];
}

/// As FoldLanes joins them, for `rows` groups of 2 kWidth lanes that follow each other: all of a
/// level before the next, so that groups don't wait for themselves. Leaves the results in `lanes`.
template <int kWidth, typename T, typename Combine>
POPRT_INLINE void JoinLanes(std::int64_t rows, T* lanes, const Combine& combine) {
  // What is written was read before, by this iteration or an earlier one.
  POPRT_INDEPENDENT_LOOP
  for (std::int64_t row = 0; row < rows; ++row) {
    T joined[kWidth];
    for (int lane = 0; lane < kWidth; ++lane) {
      const T* pair = lanes + 2 * kWidth * row + lane;
      joined[lane] = combine(pair[0], pair[kWidth]);
    }
    for (int lane = 0; lane < kWidth; ++lane) lanes[kWidth * row + lane] = joined[lane];
  }
  if constexpr (kWidth > 1) JoinLanes<kWidth / 2>(rows, lanes, combine);
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
