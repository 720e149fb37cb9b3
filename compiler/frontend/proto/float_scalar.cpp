#include "compiler/frontend/proto/float_scalar.hpp"

#include "runtime/tensor/half.hpp"

namespace poprt::frontend {

std::optional<Tensor> FloatScalar(ElementType element, float value) {
  Tensor tensor({element, {}});
  switch (element) {
    case ElementType::kFloat32:
      tensor.as_mutable<float>()[0] = value;
      return tensor;
    case ElementType::kFloat64:
      tensor.as_mutable<double>()[0] = static_cast<double>(value);
      return tensor;
    case ElementType::kFloat16:
      tensor.as_mutable<Float16>()[0] = Float16(value);
      return tensor;
    case ElementType::kBFloat16:
      tensor.as_mutable<BFloat16>()[0] = BFloat16(value);
      return tensor;
    default:
      return std::nullopt;
  }
}

}  // namespace poprt::frontend
