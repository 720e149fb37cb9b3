#include "runtime/program/anchor_type.hpp"

namespace poprt::program {

std::optional<popef::DataType> AnchorDataType(ElementType type) {
  switch (type) {
    case ElementType::kBool:
      return popef::DataType::BOOL;
    case ElementType::kFloat16:
      return popef::DataType::F16;
    case ElementType::kFloat32:
      return popef::DataType::F32;
    case ElementType::kFloat64:
      return popef::DataType::F64;
    case ElementType::kInt8:
      return popef::DataType::S8;
    case ElementType::kUint8:
      return popef::DataType::U8;
    case ElementType::kInt16:
      return popef::DataType::S16;
    case ElementType::kUint16:
      return popef::DataType::U16;
    case ElementType::kInt32:
      return popef::DataType::S32;
    case ElementType::kUint32:
      return popef::DataType::U32;
    case ElementType::kInt64:
      return popef::DataType::S64;
    case ElementType::kUint64:
      return popef::DataType::U64;
    case ElementType::kBFloat16:
    case ElementType::kUndefined:
      break;
  }
  return std::nullopt;
}

}  // namespace poprt::program
