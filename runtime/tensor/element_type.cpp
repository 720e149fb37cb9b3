#include "runtime/tensor/element_type.hpp"

#include <array>

namespace poprt {
namespace {

enum class Kind { kFloat, kInteger, kBool };

struct Row {
  ElementType type;
  std::string_view name;
  std::size_t size;
  Kind kind;
};

constexpr std::array<Row, 13> kRows{{
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
}};

const Row* Find(ElementType type) {
  for (const Row& row : kRows) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

}  // namespace

std::size_t ElementSize(ElementType type) {
  const Row* row = Find(type);
  return row == nullptr ? 0 : row->size;
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

bool IsElementType(std::uint8_t number) { return Find(static_cast<ElementType>(number)) != nullptr; }

bool IsFloat(ElementType type) {
  const Row* row = Find(type);
  return row != nullptr && row->kind == Kind::kFloat;
}

bool IsInteger(ElementType type) {
  const Row* row = Find(type);
  return row != nullptr && row->kind == Kind::kInteger;
}

}  // namespace poprt
