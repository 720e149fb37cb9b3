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
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
};

/// Bytes of one element in memory; 0 for kUndefined and for numbers that are no element type. The
/// types of 4 and 2 bits take a byte each (see narrow_integer.hpp and narrow_float.hpp for its
/// contents); only ONNX files pack them.
std::size_t ElementSize(ElementType type);

/// Bits of one element in an ONNX file: 2 and 4 for the types packed there, else 8 * ElementSize.
std::size_t PackedBits(ElementType type);

/// Lower-case name as ONNX and NumPy write it: "float32", "int64", "bool"; "undefined" otherwise.
std::string_view ElementName(ElementType type);

/// The inverse of ElementName; also accepts "float", "half" and "double".
std::optional<ElementType> ParseElementType(std::string_view name);

/// True for a number that names an element type other than kUndefined.
bool IsElementType(std::uint8_t number);

/// float16, bfloat16, float32, float64: the floats that operators compute with.
bool IsFloat(ElementType type);
/// A signed or unsigned integer of 8 to 64 bits; not bool.
bool IsInteger(ElementType type);
/// The floats of 8 and 4 bits. They are stored and converted; no operator computes with them.
bool IsNarrowFloat(ElementType type);
/// The integers of 4 and 2 bits, which are only stored and converted as well.
bool IsNarrowInteger(ElementType type);

}  // namespace poprt
