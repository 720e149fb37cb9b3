#pragma once

#include "compiler/ipu/plan/operation.hpp"
#include "compiler/ipu/plan/product_steps.hpp"

namespace poprt::ipu {

/// The product of NumPy's matmul: batches that the second operand does not have become rows.
struct MatrixOperands {
  Product product = {};
  ProductOperand left = {};
  ProductOperand right = {};
  ProductResult result = {};
};

MatrixOperands MatMulOperands(const Placed& left, const Placed& right, const TensorType& result);

/// The operand in a format that the AMP units multiply: narrow and integer ones become float16.
Placed Multipliable(StepBuilder& steps, const Placed& operand);

/// Adds the product of two tensors as MatMul defines it.
PlannedProduct AddMatMul(StepBuilder& steps, const Placed& left, const Placed& right,
                         const TensorType& result);

}  // namespace poprt::ipu
