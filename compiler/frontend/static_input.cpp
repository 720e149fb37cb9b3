#include "compiler/frontend/static_input.hpp"

#include <cstdint>
#include <limits>
#include <utility>

#include "runtime/tensor/half.hpp"

namespace poprt::frontend {
namespace {

template <typename T>
AttributeValue AsInts(const Tensor& tensor) {
  const auto elements = tensor.as<T>();
  Ints values;
  values.reserve(elements.size());
  for (const T element : elements) values.push_back(static_cast<std::int64_t>(element));
  return values;
}

template <typename T>
AttributeValue AsFloats(const Tensor& tensor) {
  const auto elements = tensor.as<T>();
  Floats values;
  values.reserve(elements.size());
  for (const T element : elements) values.push_back(static_cast<float>(element));
  return values;
}

}  // namespace

std::optional<AttributeValue> StaticValue(const Tensor& tensor) {
  switch (tensor.element()) {
    case ElementType::kInt64:
      return AsInts<std::int64_t>(tensor);
    case ElementType::kInt32:
      return AsInts<std::int32_t>(tensor);
    case ElementType::kInt16:
      return AsInts<std::int16_t>(tensor);
    case ElementType::kInt8:
      return AsInts<std::int8_t>(tensor);
    case ElementType::kUint64:
      for (const std::uint64_t element : tensor.as<std::uint64_t>()) {
        if (element > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
          return std::nullopt;
        }
      }
      return AsInts<std::uint64_t>(tensor);
    case ElementType::kUint32:
      return AsInts<std::uint32_t>(tensor);
    case ElementType::kUint16:
      return AsInts<std::uint16_t>(tensor);
    case ElementType::kUint8:
    case ElementType::kBool:
      return AsInts<std::uint8_t>(tensor);
    case ElementType::kFloat32:
      return AsFloats<float>(tensor);
    case ElementType::kFloat64:
      return AsFloats<double>(tensor);
    case ElementType::kFloat16:
      return AsFloats<Float16>(tensor);
    case ElementType::kBFloat16:
      return AsFloats<BFloat16>(tensor);
    default:
      break;  // no operator takes narrow types there
  }
  return std::nullopt;
}

AttributeValue AsList(AttributeValue value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return Ints{*number};
  if (const auto* number = std::get_if<float>(&value)) return Floats{*number};
  return value;
}

}  // namespace poprt::frontend
