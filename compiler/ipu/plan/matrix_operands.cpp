#include "compiler/ipu/plan/matrix_operands.hpp"

#include <algorithm>

#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ipu/plan/extents.hpp"

namespace poprt::ipu {
namespace {

std::uint64_t Extent(const Shape& shape, std::size_t from_end) {
  return shape.size() < from_end
             ? 1
             : std::max<std::uint64_t>(static_cast<std::uint64_t>(shape[shape.size() - from_end]),
                                       1);
}

}  // namespace

MatrixOperands MatMulOperands(const Placed& left, const Placed& right, const TensorType& result) {
  const std::uint64_t inner = Extent(left.type.shape, 1);
  const bool vector = right.type.shape.size() == 1;
  const std::uint64_t columns = vector ? 1 : Extent(right.type.shape, 1);
  const std::uint64_t elements = std::max<std::uint64_t>(Elements(result), 1);
  const bool shared =
      right.type.shape.size() < 3 || Volume(right.type.shape, 0, right.type.shape.size() - 2) == 1;
  const std::uint64_t rows_of_group = left.type.shape.size() == 1 ? 1 : Extent(left.type.shape, 2);
  const std::uint64_t groups =
      shared ? 1 : std::max<std::uint64_t>(elements / (rows_of_group * columns), 1);
  MatrixOperands operands;
  operands.product =
      MatrixProduct(FormatOf(left.type), FormatOf(result), groups,
                    std::max<std::uint64_t>(elements / (groups * columns), 1), inner, columns);
  operands.left = {left, 1, inner};
  operands.right = {right, vector ? 1 : columns, inner};
  operands.result = {result, 1, columns};
  return operands;
}

Placed Multipliable(StepBuilder& steps, const Placed& operand) {
  const NumberFormat format = FormatOf(operand.type);
  const bool fits = IsFloatFormat(format) &&
                    ConvUnits(steps.target(), {format, steps.options().half_partials}) > 0;
  if (fits) return operand;
  if (!operand.constant) return AddCast(steps, operand, ElementType::kFloat16);
  // A constant is converted before it is loaded.
  Placed converted = operand;
  converted.type.element = ElementType::kFloat16;
  return converted;
}

PlannedProduct AddMatMul(StepBuilder& steps, const Placed& left, const Placed& right,
                         const TensorType& result) {
  Placed a = Multipliable(steps, left);
  Placed b = Multipliable(steps, right);
  if (FormatOf(a.type) != FormatOf(b.type)) {
    // Formats that differ meet in float16, what FP8 weights are multiplied in.
    a = a.constant ? a : AddCast(steps, a, ElementType::kFloat16);
    b = b.constant ? b : AddCast(steps, b, ElementType::kFloat16);
    a.type.element = b.type.element = ElementType::kFloat16;
  }
  const NumberFormat output = FormatOf(result);
  TensorType type = result;
  if (!IsFloatFormat(output)) type.element = ElementType::kFloat32;
  const MatrixOperands operands = MatMulOperands(a, b, type);
  PlannedProduct planned =
      AddProduct(steps, operands.product, operands.left, operands.right, operands.result);
  if (type.element != result.element)
    planned.result = AddCast(steps, planned.result, result.element);
  return planned;
}

}  // namespace poprt::ipu
