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
      return popef::DataType::BF16;
    case ElementType::kFloat8E4M3FNUZ:
      return popef::DataType::F8143;
    case ElementType::kFloat8E5M2FNUZ:
      return popef::DataType::F8152;
    case ElementType::kFloat8E4M3FN:
      return popef::DataType::F8E4M3FN;
    case ElementType::kFloat8E5M2:
      return popef::DataType::F8E5M2;
    case ElementType::kFloat8E8M0:
      return popef::DataType::F8E8M0;
    case ElementType::kFloat4E2M1:
      return popef::DataType::F4E2M1;
    case ElementType::kInt4:
      return popef::DataType::S4;
    case ElementType::kUint4:
      return popef::DataType::U4;
    case ElementType::kInt2:
      return popef::DataType::S2;
    case ElementType::kUint2:
      return popef::DataType::U2;
    case ElementType::kUndefined:
      break;
  }
  return std::nullopt;
}

}  // namespace poprt::program
