#include "compiler/ipu/plan/normalization.hpp"

#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ipu/plan/reduction.hpp"

namespace poprt::ipu {

Placed AddNormalization(StepBuilder& steps, const Placed& x, const Normalization& normalization) {
  const TensorType& type = x.type;
  const TensorType sums = KeptType(type, normalization.axes, ElementType::kFloat32);
  const TensorType kept = KeptType(type, normalization.axes, type.element);
  Placed mean;
  if (normalization.centered) {
    mean =
        AddReduction(steps, x, {.name = "reduce add", .axes = normalization.axes, .result = kept});
  }
  const Placed power = AddReduction(steps, x,
                                    {.name = "reduce square add",
                                     .operation = ReduceOperation::kSquareAdd,
                                     .axes = normalization.axes,
                                     .result = sums});
  Placed inverse =
      AddScalar(steps, "inverse std dev", ElementwiseOp::kVarianceToInverseStdDev, power, sums);
  inverse = AddCast(steps, inverse, type.element);
  Placed y = x;
  if (normalization.centered) {
    y = AddBinary(steps, "subtract mean", ElementwiseOp::kSubtract, y, mean, type);
  }
  y = AddBinary(steps, "multiply inverse std dev", ElementwiseOp::kMultiply, y, inverse, type);
  if (normalization.scale) {
    y = AddBinary(steps, "multiply scale", ElementwiseOp::kMultiply, y, *normalization.scale, type);
  }
  if (normalization.bias) {
    y = AddBinary(steps, "add bias", ElementwiseOp::kAdd, y, *normalization.bias, type);
  }
  return y;
}

}  // namespace poprt::ipu
