#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/kernels/reduction/folds.hpp"
#include "runtime/kernels/reduction/lane_sum.hpp"

namespace poprt::kernels {

/// The largest of x[0, n), the smallest for kMax = false; NaN if any is. In any order, hence with
/// so many lanes that none waits for itself.
template <bool kMax, typename T>
T ExtremeOf(const T* x, std::int64_t n) {
  using Extreme = std::conditional_t<kMax, MaxFold, MinFold>;
  constexpr int kMany = 2 * kFoldLanes<T>;
  const auto value = [x](std::int64_t i) { return x[i]; };
  const auto combine = [](T a, T b) { return Extreme::Combine(a, b); };
  const T worst = Extreme::template Identity<T>();
  return n < kMany ? FoldLanes<T>(n, worst, value, combine)
                   : FoldLanes<T, kMany>(n, worst, value, combine);
}

/// Where ExtremeOf(x, n), n >= 1, stands first, for kLast last.
template <bool kMax, bool kLast, typename T>
std::int64_t IndexOfExtreme(const T* x, std::int64_t n) {
  const T best = ExtremeOf<kMax>(x, n);
  const auto is_best = [x, best](std::int64_t i) {
    return (x[i] == best) | ((x[i] != x[i]) & (best != best));
  };
  // Blocks without it are passed with vectors.
  constexpr std::int64_t kBlock = 64;
  std::int64_t passed = 0;
  for (; passed + kBlock <= n; passed += kBlock) {
    const std::int64_t first = kLast ? n - passed - kBlock : passed;
    std::uint32_t found = 0;
    for (std::int64_t i = first; i < first + kBlock; ++i) found |= is_best(i) ? 1U : 0U;
    if (found != 0) break;
  }
  std::int64_t i = kLast ? n - 1 - passed : passed;
  while (!is_best(i)) i += kLast ? -1 : 1;
  return i;
}

}  // namespace poprt::kernels
