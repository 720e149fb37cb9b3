#include "runtime/kernels/quantized/wide_weights.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include "runtime/kernels/quantized/integer_rows.hpp"
#include "runtime/kernels/thread_pool.hpp"

namespace poprt::kernels {
namespace {

/// Calls each(column, first row, rows) for every column of every block, those of a block on one
/// thread.
template <typename Each>
void EachOfRows(const WeightMatrix& w, std::int64_t block, const Each& each) {
  ProcessThreadPool().Run((w.depth - 1) / block + 1, [&](std::int64_t i, int /*worker*/) {
    const std::int64_t first = i * block;
    const std::int64_t count = std::min(block, w.depth - first);
    for (std::int64_t column = 0; column < w.columns; ++column) each(column, first, count);
  });
}

}  // namespace

bool WasRounded(const WeightMatrix& w) {
  constexpr std::uint32_t kLostBits = (1 << 13) - 1;  // of 24, 11 are left
  constexpr std::uint32_t kMagnitude = 0x7FFFFFFF;
  constexpr std::uint32_t kInfinity = 0x7F800000;
  std::set<std::uint32_t> magnitudes;
  for (std::int64_t i = 0; i < w.depth * w.columns; ++i) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(w.data[i]) & kMagnitude;
    if ((bits & kLostBits) != 0 || bits >= kInfinity) return false;
    if (magnitudes.size() < kFewestMagnitudes) magnitudes.insert(bits);
  }
  return magnitudes.size() == kFewestMagnitudes;
}

std::optional<float> WideScaleOf(const WeightMatrix& w, std::int64_t column, std::int64_t first,
                                 std::int64_t count) {
  float magnitudes[kWideBlock];
  float largest = 0;
  double sum = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    magnitudes[k] = std::abs(w.at(first + k, column));
    largest = std::max(largest, magnitudes[k]);
    sum += magnitudes[k];
  }
  if (!std::isfinite(sum)) return {};
  if (sum == 0) return 1.0F;
  const auto fits = [&](float scale) {
    const float inverse = 1 / scale;
    if (sum > double{kMostWideSum} * scale || largest * inverse > kMostWideSum) return false;
    std::int32_t multiples = 0;
    std::int32_t most = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      const auto bits = std::bit_cast<std::int32_t>(magnitudes[k] * inverse + kRound) - kRoundBits;
      multiples += bits;
      most = std::max(most, bits);
    }
    return most <= std::numeric_limits<std::int16_t>::max() && multiples <= kMostWideSum;
  };
  const int exponent = std::ilogb(sum) - std::ilogb(kMostWideSum);
  float scale =
      std::max(static_cast<float>(std::exp2(exponent)), std::numeric_limits<float>::min());
  while (!fits(scale)) scale *= 2;
  return scale;
}

bool KeepsRows(const WeightMatrix& w, std::int64_t block) {
  constexpr double kMostLost = 0x1p-14;       // of squares
  constexpr double kMostOnAverage = 0x1p-22;  // of those of all rows but zeros
  std::vector<double> all(static_cast<std::size_t>(w.depth));
  std::vector<double> lost(all.size());
  EachOfRows(w, block, [&](std::int64_t column, std::int64_t first, std::int64_t count) {
    const float scale = *WideScaleOf(w, column, first, count);
    for (std::int64_t k = first; k < first + count; ++k) {
      const float value = w.at(k, column);
      const double rest = value - std::nearbyint(value / scale) * scale;
      all[static_cast<std::size_t>(k)] += double{value} * value;
      lost[static_cast<std::size_t>(k)] += rest * rest;
    }
  });
  double sum = 0;
  double rows = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (lost[k] > kMostLost * all[k]) return false;
    if (all[k] == 0) continue;
    sum += lost[k] / all[k];
    ++rows;
  }
  return sum <= kMostOnAverage * rows;
}

void PackPowers(const WeightMatrix& w, std::int64_t block, std::byte* to) {
  std::vector<double> powers(static_cast<std::size_t>(w.depth));
  EachOfRows(w, block, [&](std::int64_t column, std::int64_t first, std::int64_t count) {
    for (std::int64_t k = first; k < first + count; ++k) {
      powers[static_cast<std::size_t>(k)] += double{w.at(k, column)} * w.at(k, column);
    }
  });
  const double largest = *std::max_element(powers.begin(), powers.end());
  for (std::size_t k = 0; k < powers.size(); ++k) {
    const auto power = static_cast<float>(largest > 0 ? powers[k] / largest : 0);
    std::memcpy(to + k * sizeof(float), &power, sizeof(float));
  }
}

}  // namespace poprt::kernels
