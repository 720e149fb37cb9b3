#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace poprt::kernels {

/// The largest of x[0, n), the smallest for kMax = false; NaN if any is. In vectors that every
/// compiler and processor has, since g++ does not vectorise a fold that keeps NaN.
template <bool kMax, typename T>
T ExtremeOf(const T* x, std::int64_t n) {
  constexpr int kVectors = 4;
  constexpr int kLanes = 16 / static_cast<int>(sizeof(T));
  using Limits = std::numeric_limits<T>;
  using Vector [[gnu::vector_size(16)]] = T;
  using Mask = decltype(Vector{} != Vector{});
  constexpr bool kFloat = std::is_floating_point_v<T>;
  constexpr T kLowest = kFloat ? -Limits::infinity() : Limits::lowest();
  constexpr T kWorst = kMax ? kLowest : kFloat ? Limits::infinity() : Limits::max();
  const auto better = [](auto a, auto b) {
    if constexpr (kMax) {
      return a > b ? a : b;
    } else {
      return a < b ? a : b;
    }
  };
  Vector best[kVectors];
  Mask is_nan[kVectors] = {};
  for (Vector& vector : best) vector = Vector{} + kWorst;
  std::int64_t i = 0;
  for (; i + kVectors * kLanes <= n; i += kVectors * kLanes) {
    for (int v = 0; v < kVectors; ++v) {
      Vector next;
      std::memcpy(&next, x + i + v * kLanes, sizeof(next));
      if constexpr (kFloat) is_nan[v] |= next != next;
      best[v] = better(best[v], next);
    }
  }
  const Mask any = (is_nan[0] | is_nan[1]) | (is_nan[2] | is_nan[3]);
  const Vector last = better(better(best[0], best[1]), better(best[2], best[3]));
  bool found_nan = false;
  T result = kWorst;
  for (int lane = 0; lane < kLanes; ++lane) {
    found_nan = found_nan || any[lane] != 0;
    result = better(result, last[lane]);
  }
  for (; i < n; ++i) {
    found_nan = found_nan || x[i] != x[i];
    result = better(result, x[i]);
  }
  return found_nan ? Limits::quiet_NaN() : result;
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
