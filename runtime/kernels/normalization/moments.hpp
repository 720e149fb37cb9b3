#pragma once

#include <cstdint>

#include "runtime/kernels/reduction/lane_sum.hpp"

namespace poprt::kernels {

/// Mean and variance of some elements.
struct Moments {
  double mean = 0;
  double variance = 0;
};

/// In two passes, so that a large mean doesn't spoil the variance.
template <typename C>
POPRT_INLINE Moments MomentsOf(const C* x, std::int64_t n) {
  const auto count = static_cast<double>(n);
  const double mean = LaneSum<C>(n, [&](std::int64_t i) { return x[i]; }) / count;
  const C center = static_cast<C>(mean);
  const double squares = LaneSum<C>(n, [&](std::int64_t i) {
    const C distance = x[i] - center;
    return distance * distance;
  });
  return {mean, squares / count};
}

}  // namespace poprt::kernels
