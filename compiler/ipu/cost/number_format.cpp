#include "compiler/ipu/cost/number_format.hpp"

namespace poprt::ipu {

std::uint64_t FormatBytes(NumberFormat format) {
  switch (format) {
    case NumberFormat::kFloat32:
    case NumberFormat::kInt32:
      return 4;
    case NumberFormat::kFloat16:
    case NumberFormat::kInt16:
      return 2;
    case NumberFormat::kFloat8:
    case NumberFormat::kInt8:
    case NumberFormat::kBool:
      return 1;
  }
  return 0;
}

std::optional<NumberFormat> FormatOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
    case ElementType::kFloat64:
      return NumberFormat::kFloat32;
    case ElementType::kFloat16:
    case ElementType::kBFloat16:
      return NumberFormat::kFloat16;
    case ElementType::kFloat8E4M3FN:
    case ElementType::kFloat8E4M3FNUZ:
    case ElementType::kFloat8E5M2:
    case ElementType::kFloat8E5M2FNUZ:
    case ElementType::kFloat4E2M1:
    case ElementType::kFloat8E8M0:
      return NumberFormat::kFloat8;
    case ElementType::kInt32:
    case ElementType::kUint32:
    case ElementType::kInt64:
    case ElementType::kUint64:
      return NumberFormat::kInt32;
    case ElementType::kInt16:
    case ElementType::kUint16:
      return NumberFormat::kInt16;
    case ElementType::kInt8:
    case ElementType::kUint8:
    case ElementType::kInt4:
    case ElementType::kUint4:
    case ElementType::kInt2:
    case ElementType::kUint2:
      return NumberFormat::kInt8;
    case ElementType::kBool:
      return NumberFormat::kBool;
    case ElementType::kUndefined:
      break;
  }
  return std::nullopt;
}

bool IsFloatFormat(NumberFormat format) {
  return format == NumberFormat::kFloat32 || format == NumberFormat::kFloat16 ||
         format == NumberFormat::kFloat8;
}

std::uint64_t VectorElements(const Target& target, NumberFormat format) {
  return target.vector_bytes / FormatBytes(format);
}

}  // namespace poprt::ipu
