#include "runtime/tensor/element_type.hpp"

#include <array>

namespace poprt {
namespace {

enum class Kind { kFloat, kInteger, kBool, kNarrowFloat, kNarrowInteger };

struct Row {
  ElementType type;
  std::string_view name;
  std::size_t size;
  Kind kind;
  std::size_t packed_bits = 8 * size;
};

constexpr std::array<Row, 23> kRows{{
    {ElementType::kFloat32, "float32", 4, Kind::kFloat},
    {ElementType::kUint8, "uint8", 1, Kind::kInteger},
    {ElementType::kInt8, "int8", 1, Kind::kInteger},
    {ElementType::kUint16, "uint16", 2, Kind::kInteger},
    {ElementType::kInt16, "int16", 2, Kind::kInteger},
    {ElementType::kInt32, "int32", 4, Kind::kInteger},
    {ElementType::kInt64, "int64", 8, Kind::kInteger},
    {ElementType::kBool, "bool", 1, Kind::kBool},
    {ElementType::kFloat16, "float16", 2, Kind::kFloat},
    {ElementType::kFloat64, "float64", 8, Kind::kFloat},
    {ElementType::kUint32, "uint32", 4, Kind::kInteger},
    {ElementType::kUint64, "uint64", 8, Kind::kInteger},
    {ElementType::kBFloat16, "bfloat16", 2, Kind::kFloat},
    {ElementType::kFloat8E4M3FN, "float8e4m3fn", 1, Kind::kNarrowFloat},
    {ElementType::kFloat8E4M3FNUZ, "float8e4m3fnuz", 1, Kind::kNarrowFloat},
    {ElementType::kFloat8E5M2, "float8e5m2", 1, Kind::kNarrowFloat},
    {ElementType::kFloat8E5M2FNUZ, "float8e5m2fnuz", 1, Kind::kNarrowFloat},
    {ElementType::kUint4, "uint4", 1, Kind::kNarrowInteger, 4},
    {ElementType::kInt4, "int4", 1, Kind::kNarrowInteger, 4},
    {ElementType::kFloat4E2M1, "float4e2m1", 1, Kind::kNarrowFloat, 4},
    {ElementType::kFloat8E8M0, "float8e8m0", 1, Kind::kNarrowFloat},
    {ElementType::kUint2, "uint2", 1, Kind::kNarrowInteger, 2},
    {ElementType::kInt2, "int2", 1, Kind::kNarrowInteger, 2},
}};

const Row* Find(ElementType type) {
  for (const Row& row : kRows) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

bool IsOfKind(ElementType type, Kind kind) {
  const Row* row = Find(type);
  return row != nullptr && row->kind == kind;
}

}  // namespace

std::size_t ElementSize(ElementType type) {
  const Row* row = Find(type);
  return row == nullptr ? 0 : row->size;
}

std::size_t PackedBits(ElementType type) {
  const Row* row = Find(type);
  return row == nullptr ? 0 : row->packed_bits;
}

std::string_view ElementName(ElementType type) {
  const Row* row = Find(type);
  return row == nullptr ? "undefined" : row->name;
}

std::optional<ElementType> ParseElementType(std::string_view name) {
  if (name == "float") return ElementType::kFloat32;
  if (name == "half") return ElementType::kFloat16;
  if (name == "double") return ElementType::kFloat64;
  for (const Row& row : kRows) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

bool IsElementType(std::uint8_t number) {
  return Find(static_cast<ElementType>(number)) != nullptr;
}

bool IsFloat(ElementType type) { return IsOfKind(type, Kind::kFloat); }
bool IsInteger(ElementType type) { return IsOfKind(type, Kind::kInteger); }
bool IsNarrowFloat(ElementType type) { return IsOfKind(type, Kind::kNarrowFloat); }
bool IsNarrowInteger(ElementType type) { return IsOfKind(type, Kind::kNarrowInteger); }

}  // namespace poprt
