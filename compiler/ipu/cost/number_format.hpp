#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ipu/target/target.hpp"
#include "runtime/tensor/element_type.hpp"

namespace poprt::ipu {

/// What the vertices of a tile compute with; the cost of an operation depends on it (section 2).
enum class NumberFormat : std::uint8_t {
  kFloat32,
  kFloat16,
  kFloat8,
  kInt32,  ///< signed and unsigned
  kInt16,
  kInt8,
  kBool,
};

/// Bytes of an element in tile memory.
std::uint64_t FormatBytes(NumberFormat format);

/// How the IPU computes with elements of that type: bfloat16 as float16, float64 as float32, 64-bit
/// integers as 32-bit ones, narrower floats and integers as 8-bit ones. Nothing for kUndefined.
std::optional<NumberFormat> FormatOf(ElementType type);

bool IsFloatFormat(NumberFormat format);

/// Elements of a natural vector (section 1.1): 4 half, 2 float.
std::uint64_t VectorElements(const Target& target, NumberFormat format);

}  // namespace poprt::ipu
