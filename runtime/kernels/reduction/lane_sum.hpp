#pragma once

#include <cstdint>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/parallel.hpp"

/// Before a loop over few parts, each of which is vectors: so that all stay in registers.
#if defined(__clang__)
#define POPRT_UNROLLED
#else
#define POPRT_UNROLLED _Pragma("GCC unroll 4")
#endif

/// Folding many numbers in a fixed order that vectorises and that keeps rounding errors small: the
/// result depends on the number of elements only, never on the machine or on threads.
namespace poprt::kernels {

/// Lanes that numbers are folded in side by side, a vector of the widest kind at least.
template <typename T>
inline constexpr int kFoldLanes = sizeof(T) < 4 ? 64 / static_cast<int>(sizeof(T)) : 16;

/// Combines kFrom lanes pairwise, a half with the other, until kTo are left.
template <int kFrom, int kTo, typename T, typename Combine>
POPRT_INLINE void JoinLanes(const T* from, const Combine& combine, T* to) {
  if constexpr (kFrom == kTo) {
    for (int lane = 0; lane < kTo; ++lane) to[lane] = from[lane];
  } else {
    T half[kFrom / 2];
    POPRT_LANE_LOOP
    for (int lane = 0; lane < kFrom / 2; ++lane) {
      half[lane] = combine(from[lane], from[lane + kFrom / 2]);
    }
    JoinLanes<kFrom / 2, kTo>(half, combine, to);
  }
}

/// Folds value(i) for i in [0, n) into kWidth interleaved lanes with an associative `combine`, of
/// which `identity` is neutral, and joins these until kLanes are left.
template <int kWidth, int kLanes, typename T, typename Value, typename Combine>
POPRT_INLINE void FoldIntoLanes(std::int64_t n, T identity, const Value& value,
                                const Combine& combine, T* lanes) {
  T local[kWidth];
  for (T& lane : local) lane = identity;
  if (n < kWidth) {
    for (int lane = 0; lane < n; ++lane) local[lane] = combine(local[lane], value(lane));
    return JoinLanes<kWidth, kLanes>(local, combine, lanes);
  }
  std::int64_t i = 0;
  for (; i + kWidth < n; i += kWidth) {
    // Apart, since a loop over more than two vectors would be one over memory.
    POPRT_UNROLLED
    for (int part = 0; part < kWidth; part += kFoldLanes<T>) {
      POPRT_LANE_LOOP
      for (int lane = part; lane < part + kFoldLanes<T>; ++lane) {
        local[lane] = combine(local[lane], value(i + lane));
      }
    }
  }
  // Whole vectors without branches: what was folded already is neutral.
  const auto seen = static_cast<int>(i + kWidth - n);
  POPRT_LANE_LOOP
  for (int lane = 0; lane < kWidth; ++lane) {
    const T last = value(n - kWidth + lane);
    local[lane] = combine(local[lane], Select(lane < seen, identity, last));
  }
  JoinLanes<kWidth, kLanes>(local, combine, lanes);
}

/// Folds value(i) for i in [0, n) by FoldIntoLanes into one.
template <typename T, int kWidth = kFoldLanes<T>, typename Value, typename Combine>
POPRT_INLINE T FoldLanes(std::int64_t n, T identity, const Value& value, const Combine& combine) {
  T result;
  FoldIntoLanes<kWidth, 1>(n, identity, value, combine, &result);
  return result;
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
