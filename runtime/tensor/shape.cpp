#include "runtime/tensor/shape.hpp"

#include <algorithm>

namespace poprt {

std::optional<std::int64_t> CheckedElementCount(const Shape& shape) {
  // A zero extent makes the product zero, but the others must still be sane.
  bool empty = false;
  std::int64_t count = 1;
  for (std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(count, extent, &count)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : count;
}

std::int64_t ElementCount(const Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  return count;
}

Shape Strides(const Shape& shape) {
  Shape strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

std::string ToString(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

std::optional<Shape> Broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

std::optional<std::int64_t> NormalizeAxis(std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) return std::nullopt;
  return axis < 0 ? axis + signed_rank : axis;
}

std::string ToString(const TensorType& type) {
  return std::string(ElementName(type.element)) + ToString(type.shape);
}

}  // namespace poprt
