#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/tensor/element_type.hpp"

namespace poprt {

/// Extents of a tensor, outermost first; empty for a scalar. Extents are never negative.
using Shape = std::vector<std::int64_t>;

/// Product of the extents (1 for a scalar), or nothing when it overflows int64 or an extent is
/// negative.
std::optional<std::int64_t> CheckedElementCount(const Shape& shape);

/// As CheckedElementCount for a shape that is known to be valid.
std::int64_t ElementCount(const Shape& shape);

/// Row-major strides in elements, same length as `shape`.
Shape Strides(const Shape& shape);

/// "[1, 3, 224, 224]".
std::string ToString(const Shape& shape);

/// NumPy broadcasting of two shapes; nothing when they do not fit.
std::optional<Shape> Broadcast(const Shape& a, const Shape& b);

/// `axis` counted from the front, for an axis in [-rank, rank); nothing when it is outside.
std::optional<std::int64_t> NormalizeAxis(std::int64_t axis, std::size_t rank);

/// Element type and shape of a tensor: all that is known of it at compile time.
struct TensorType {
  ElementType element = ElementType::kUndefined;
  Shape shape;

  bool operator==(const TensorType&) const = default;
  /// False for the absent optional operand.
  bool defined() const { return element != ElementType::kUndefined; }
  /// Size in bytes; only for a type whose shape is valid.
  std::size_t bytes() const {
    return ElementSize(element) * static_cast<std::size_t>(ElementCount(shape));
  }
};

/// "float32[1, 512]".
std::string ToString(const TensorType& type);

}  // namespace poprt
