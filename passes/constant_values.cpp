#include "passes/constant_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "runtime/tensor/half.hpp"
#include "runtime/tensor/narrow_float.hpp"
#include "runtime/tensor/narrow_integer.hpp"

namespace poprt::passes {
namespace {

/// Calls `visit` with a zero of the C++ type that holds elements of the type.
template <typename Visit>
void VisitElementType(ElementType type, Visit visit) {
  switch (type) {
    case ElementType::kFloat32:
      return visit(float{});
    case ElementType::kFloat64:
      return visit(double{});
    case ElementType::kFloat16:
      return visit(Float16{});
    case ElementType::kBFloat16:
      return visit(BFloat16{});
    case ElementType::kInt8:
      return visit(std::int8_t{});
    case ElementType::kInt16:
      return visit(std::int16_t{});
    case ElementType::kInt32:
      return visit(std::int32_t{});
    case ElementType::kInt64:
      return visit(std::int64_t{});
    case ElementType::kUint16:
      return visit(std::uint16_t{});
    case ElementType::kUint32:
      return visit(std::uint32_t{});
    case ElementType::kUint64:
      return visit(std::uint64_t{});
    case ElementType::kUint8:
    case ElementType::kBool:
      return visit(std::uint8_t{});
    case ElementType::kFloat8E4M3FN:
      return visit(Float8E4M3FN{});
    case ElementType::kFloat8E4M3FNUZ:
      return visit(Float8E4M3FNUZ{});
    case ElementType::kFloat8E5M2:
      return visit(Float8E5M2{});
    case ElementType::kFloat8E5M2FNUZ:
      return visit(Float8E5M2FNUZ{});
    case ElementType::kFloat8E8M0:
      return visit(Float8E8M0{});
    case ElementType::kFloat4E2M1:
      return visit(Float4E2M1{});
    case ElementType::kInt4:
      return visit(Int4{});
    case ElementType::kUint4:
      return visit(Uint4{});
    case ElementType::kInt2:
      return visit(Int2{});
    case ElementType::kUint2:
      return visit(Uint2{});
    case ElementType::kUndefined:
      return;
  }
}

template <typename T>
double AsDouble(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (requires { static_cast<float>(value); }) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<double>(static_cast<std::int32_t>(value));
  }
}

template <typename T>
T FromDouble(double value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else if constexpr (requires(T narrow) { static_cast<float>(narrow); }) {
    return T(static_cast<float>(value));
  } else {
    return T(static_cast<std::int32_t>(value));
  }
}

}  // namespace

std::vector<double> ToDoubles(const Tensor& tensor) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(tensor.count()));
  VisitElementType(tensor.element(), [&]<typename T>(T) {
    for (const T& value : tensor.as<T>()) values.push_back(AsDouble(value));
  });
  return values;
}

Tensor FromDoubles(TensorType type, std::span<const double> values) {
  Tensor tensor(std::move(type));
  VisitElementType(tensor.element(), [&]<typename T>(T) {
    std::ranges::transform(values, tensor.as_mutable<T>().begin(), FromDouble<T>);
  });
  return tensor;
}

std::optional<double> UniformValue(const ir::Graph& graph, ir::ValueId id) {
  const Tensor* tensor = graph.ConstantOf(id);
  if (tensor == nullptr || tensor->count() == 0) return std::nullopt;
  std::optional<double> uniform;
  VisitElementType(tensor->element(), [&]<typename T>(T) {
    const std::span<const T> elements = tensor->as<T>();
    const double first = AsDouble(elements.front());
    // Zeros of both signs are equal but not the same.
    const bool same = std::ranges::all_of(elements, [&](const T& element) {
      const double value = AsDouble(element);
      return value == first && std::signbit(value) == std::signbit(first);
    });
    if (same) uniform = first;
  });
  return uniform;
}

bool IsNear(double value, double wanted, ElementType element) {
  const double tolerance = ElementSize(element) == 2 ? 1e-3 : 1e-4;
  return std::abs(value - wanted) <= tolerance * std::abs(wanted);
}

std::optional<std::vector<double>> AlongAxis(const ir::Graph& graph, ir::ValueId id,
                                             std::int64_t count, std::size_t from_end) {
  const Tensor* tensor = graph.ConstantOf(id);
  if (tensor == nullptr) return std::nullopt;
  const std::vector<double> values = ToDoubles(*tensor);
  if (values.size() == 1) {
    return std::vector<double>(static_cast<std::size_t>(count), values.front());
  }
  const Shape& shape = tensor->shape();
  const bool varies_along_axis = shape.size() > from_end &&
                                 shape[shape.size() - 1 - from_end] == count &&
                                 static_cast<std::int64_t>(values.size()) == count;
  if (!varies_along_axis) return std::nullopt;
  return values;
}

}  // namespace poprt::passes
