#include "runtime/kernels/quantized/requantizer.hpp"

namespace poprt::kernels {

Requantizer::Requantizer(ElementType element) : element_(element) {
  if (Contains(kByteTypes, element)) {
    range_ = RangeOf(element);
  } else {
    convert_ = Converter(ElementType::kFloat64, element);
  }
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
