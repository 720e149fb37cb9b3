#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

namespace poprt::kernels {

/// The largest of x[0, n), the smallest for kMax = false; NaN if any is. In vectors that every
/// compiler and processor has, since g++ does not vectorise a fold that keeps NaN.
template <bool kMax>
float ExtremeOf(const float* x, std::int64_t n) {
  using Floats4 = float __attribute__((vector_size(16)));
  using Ints4 = std::int32_t __attribute__((vector_size(16)));
  constexpr int kVectors = 4;
  constexpr int kLanes = 4;
  constexpr float kWorst =
      kMax ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
  const auto better = [](auto a, auto b) {
    if constexpr (kMax) {
      return a > b ? a : b;
    } else {
      return a < b ? a : b;
    }
  };
  Floats4 best[kVectors];
  Ints4 is_nan[kVectors] = {};
  for (Floats4& vector : best) vector = Floats4{} + kWorst;
  std::int64_t i = 0;
  for (; i + kVectors * kLanes <= n; i += kVectors * kLanes) {
    for (int v = 0; v < kVectors; ++v) {
      Floats4 next;
      std::memcpy(&next, x + i + v * kLanes, sizeof(next));
      is_nan[v] |= next != next;
      best[v] = better(best[v], next);
    }
  }
  const Ints4 any = (is_nan[0] | is_nan[1]) | (is_nan[2] | is_nan[3]);
  const Floats4 four = better(better(best[0], best[1]), better(best[2], best[3]));
  bool found_nan = (any[0] | any[1] | any[2] | any[3]) != 0;
  float result = better(better(four[0], four[1]), better(four[2], four[3]));
  for (; i < n; ++i) {
    found_nan = found_nan || x[i] != x[i];
    result = better(result, x[i]);
  }
  return found_nan ? std::numeric_limits<float>::quiet_NaN() : result;
}

}  // namespace poprt::kernels
