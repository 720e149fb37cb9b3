#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// MatMul and Gemm of dequantised 8-bit integers and constant weights that are multiples by int8 of
/// a scale for each column become the products of integers that they simulate: IntegerMatMul, whose
/// sums are exact. A constant bias of Gemm is added to the scaled sums.
///
/// before: Gemm(DequantizeLinear(x, s, p), w, b)
/// after:  IntegerMatMul(x, w8, p, -, s * w_scales, b)
absl::Status LowerQuantizedMatMul(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
