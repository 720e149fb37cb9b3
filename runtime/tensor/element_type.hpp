#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace poprt {

/// Type of one tensor element. The numbers are those of ONNX's TensorProto.DataType and part of the
/// container format: never renumber.
enum class ElementType : std::uint8_t {
  kUndefined = 0,  ///< an optional operand that is absent
  kFloat32 = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBFloat16 = 16,
};

/// Bytes of one element; 0 for kUndefined and for numbers that are no element type.
std::size_t ElementSize(ElementType type);

/// Lower-case name as ONNX and NumPy write it: "float32", "int64", "bool"; "undefined" otherwise.
std::string_view ElementName(ElementType type);

/// The inverse of ElementName; also accepts "float", "half" and "double".
std::optional<ElementType> ParseElementType(std::string_view name);

/// True for a number that names an element type other than kUndefined.
bool IsElementType(std::uint8_t number);

/// float16, bfloat16, float32, float64.
bool IsFloat(ElementType type);
/// Any signed or unsigned integer; not bool.
bool IsInteger(ElementType type);

}  // namespace poprt
