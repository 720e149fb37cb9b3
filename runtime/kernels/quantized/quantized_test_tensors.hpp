#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "runtime/kernels/kernel_test_index.hpp"
#include "runtime/kernels/quantized/quantized.hpp"

/// What the tests of quantised kernels build operands with: tensors of any type, the narrow ones
/// too, as lists of doubles.
namespace poprt::kernels::testing::quantized {

/// As the kernels convert, which the narrow types need.
inline Tensor FromValues(ElementType element, const Shape& shape, const Values& values) {
  const Tensor doubles = testing::FromValues(ElementType::kFloat64, shape, values);
  return element == ElementType::kFloat64 ? doubles : Run1("Cast", {doubles}, {element, shape});
}

inline Values ToValues(const Tensor& tensor) {
  return testing::ToValues(tensor.element() == ElementType::kFloat64
                               ? tensor
                               : Run1("Cast", {tensor}, {ElementType::kFloat64, tensor.shape()}));
}

/// Equal, where NaN equals NaN.
inline void ExpectSame(const Tensor& found, const Values& wanted) {
  ExpectClose(testing::FromValues(ElementType::kFloat64, found.shape(), ToValues(found)), wanted,
              0);
}

/// Any integers of the type.
inline Tensor RandomIntegers(std::mt19937& random, ElementType element, const Shape& shape) {
  const auto [lowest, highest] = RangeOf(element);
  Values values(static_cast<std::size_t>(ElementCount(shape)));
  for (double& value : values) {
    value = lowest + static_cast<double>(random() % static_cast<unsigned>(highest - lowest + 1));
  }
  return FromValues(element, shape, values);
}

/// Scales.
inline Tensor Positive(std::mt19937& random, ElementType element, const Shape& shape) {
  // Integers and powers of two must not become zero.
  const double low = IsInteger(element) ? 1 : 0.01;
  return FromValues(element, shape,
                    testing::ToValues(RandomTensor(random, ElementType::kFloat64, shape, low,
                                                   low == 1 ? 9 : 0.5)));
}

/// Numbers of a quantised type: any integers, or floats with NaN and infinities among them.
inline Tensor RandomCodes(std::mt19937& random, ElementType element, const Shape& shape) {
  if (Contains(kQuantizedIntegers, element)) return RandomIntegers(random, element, shape);
  return FromValues(element, shape,
                    testing::ToValues(RandomSpecials(random, ElementType::kFloat64, shape, -9, 9)));
}

template <typename T>
T Pick(std::mt19937& random, const std::vector<T>& choices) {
  return choices[random() % choices.size()];
}

/// The nearest number of the type.
inline double RoundTo(ElementType element, double value) {
  if (element == ElementType::kFloat32) return static_cast<double>(static_cast<float>(value));
  return ToValues(FromValues(element, {}, {value})).front();
}

inline double RoundEven(double value) { return std::nearbyint(value); }

}  // namespace poprt::kernels::testing::quantized
