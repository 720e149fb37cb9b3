#pragma once

#include <cstdint>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/quantized/quantized.hpp"

namespace poprt::kernels {

/// Writes real numbers as quantised ones: rounded to nearest even, saturated.
class Requantizer {
 public:
  /// `element` is one of kQuantizedTypes with 8 bits.
  explicit Requantizer(ElementType element);

  /// to[i] = saturate(values[i] + point) for count <= kMost elements. Overwrites `values`.
  void operator()(double* values, double point, std::int64_t count, std::byte* to) const;

  static constexpr std::int64_t kMost = 64;

 private:
  bool is_integer_;
  IntegerRange range_;
  Converter store_;
};

/// The factor from a product of quantised numbers to a quantised result, x_scale * w_scale /
/// y_scale, each step rounded to the type of the scales.
double ProductFactor(ElementType scales, float left, float right, float result);

}  // namespace poprt::kernels
