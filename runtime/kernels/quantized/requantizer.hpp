#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/quantized/quantized.hpp"

namespace poprt::kernels {

/// Writes sums of products as quantised numbers: rounded to nearest even, saturated.
class Requantizer {
 public:
  /// `element` is one of kByteTypes or kFloat8Types.
  explicit Requantizer(ElementType element);

  /// to[i] = saturate(sums[i] * factor + point) for count <= kMost elements. Sum is std::int32_t or
  /// double, Factor double or const double*, which has one for each. Sums and factors are read up
  /// to the next multiple of kLanes. Inlined, to be compiled as its caller is.
  template <typename Sum, typename Factor>
  POPRT_INLINE void operator()(const Sum* sums, Factor factor, double point, std::int64_t count,
                               std::byte* to) const {
    if (element_ == ElementType::kInt8) {
      return StoreIntegers<std::int8_t>(sums, factor, point, count, to);
    }
    if (element_ == ElementType::kUint8) {
      return StoreIntegers<std::uint8_t>(sums, factor, point, count, to);
    }
    double values[kMost];
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = static_cast<double>(sums[i]) * FactorAt(factor, i);
      // Adding zero would lose the sign of a zero.
      values[i] = point == 0 ? value : value + point;
    }
    convert_(reinterpret_cast<const std::byte*>(values), to, count);
  }

  static constexpr std::int64_t kMost = 256;
  static constexpr std::int64_t kLanes = 16;

 private:
  static double FactorAt(double factor, std::int64_t /*i*/) { return factor; }
  static double FactorAt(const double* factors, std::int64_t i) { return factors[i]; }

  template <typename T, typename Sum, typename Factor>
  POPRT_INLINE void StoreIntegers(const Sum* sums, Factor factor, double point, std::int64_t count,
                                  std::byte* to) const {
    // Variables, since g++ makes worse selections from constants.
    const double lowest = range_.lowest;
    const double highest = range_.highest;
    const auto round_lanes = [&](std::int64_t first, std::int32_t* integers) {
      POPRT_LANE_LOOP
      for (std::int64_t i = 0; i < kLanes; ++i) {
        const double product = static_cast<double>(sums[first + i]) * FactorAt(factor, first + i);
        integers[i] = LowestBits(Clip(product + point, lowest, highest));
      }
    };
    T* out = reinterpret_cast<T*>(to);
    std::int32_t integers[kMost];
    const std::int64_t whole = count / kLanes * kLanes;
    for (std::int64_t first = 0; first < whole; first += kLanes) {
      round_lanes(first, integers + first);
    }
    for (std::int64_t i = 0; i < whole; ++i) out[i] = static_cast<T>(integers[i]);
    if (whole == count) return;
    T last[kLanes];
    round_lanes(whole, integers);
    for (std::int64_t i = 0; i < kLanes; ++i) last[i] = static_cast<T>(integers[i]);
    std::memcpy(out + whole, last, static_cast<std::size_t>(count - whole));
  }

  ElementType element_;
  IntegerRange range_;  // of integers
  Converter convert_;   // to floats
};

/// The factor from a product of quantised numbers to a quantised result, x_scale * w_scale /
/// y_scale, each step rounded to the type of the scales.
double ProductFactor(ElementType scales, float left, float right, float result);

}  // namespace poprt::kernels
