#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: MatMul(x, w)      after: FusedMatMul(x, w) trans_b=0
/// before: MatMul(w, x) of columns x[..., K, 1]
/// after:  Reshape(FusedMatMul(Reshape(x), w) trans_b=1)
/// before: Gemm(x, w, c)     after: FusedMatMul(x, w, c) trans_b=...
/// before: Conv(x, w, b)     after: FusedConv(x, w, b) and Conv's attributes
///
/// float32 and float16 only; w of rank 2 for products, two spatial axes for Conv. Gemm without
/// transA; alpha and beta become part of the constants; c is a constant with one value for each
/// column, or a run-time value of the result's type (with beta 1), which becomes the residual. The
/// bias is a constant of shape [N].
absl::Status LowerToFused(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
