#include "runtime/kernels/quantized/requantizer.hpp"

namespace poprt::kernels {

Requantizer::Requantizer(ElementType element)
    : is_integer_(Contains(kQuantizedIntegers, element)),
      range_(is_integer_ ? RangeOf(element) : IntegerRange{}),
      store_(is_integer_ ? ElementType::kInt32 : ElementType::kFloat64, element) {}

void Requantizer::operator()(double* values, double point, std::int64_t count,
                             std::byte* to) const {
  if (!is_integer_) {
    // Adding zero would lose the sign of a zero.
    for (std::int64_t i = 0; i < count; ++i) values[i] = point == 0 ? values[i] : values[i] + point;
    store_(reinterpret_cast<const std::byte*>(values), to, count);
    return;
  }
  std::int32_t integers[kMost];
  for (std::int64_t i = 0; i < count; ++i) {
    // NaN becomes the lowest number.
    const double value = values[i] + point;
    const double floor = value > range_.lowest ? value : range_.lowest;
    const double clipped = floor < range_.highest ? floor : range_.highest;
    integers[i] = static_cast<std::int32_t>(RoundHalfEven(clipped));
  }
  store_(reinterpret_cast<const std::byte*>(integers), to, count);
}

namespace {

template <typename T>
double FactorIn(float left, float right, float result) {
  const T product(left * right);
  return static_cast<double>(static_cast<float>(T(static_cast<float>(product) / result)));
}

}  // namespace

double ProductFactor(ElementType scales, float left, float right, float result) {
  if (scales == ElementType::kFloat16) return FactorIn<Float16>(left, right, result);
  if (scales == ElementType::kBFloat16) return FactorIn<BFloat16>(left, right, result);
  return FactorIn<float>(left, right, result);
}

}  // namespace poprt::kernels
