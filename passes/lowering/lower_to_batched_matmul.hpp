#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: MatMul(a, Transpose(b) perm=[0, 1, 3, 2])      after: BatchMatMul(a, b), trans_b=1
///
/// float32 and float16 only; products of matrices by constant ones are left to lower_to_fused.
/// Vectors become matrices of one row or column by Reshape, or at once if they are constant. A
/// Transpose of b that is not contiguous in its last axis loses the exchange of the last two axes
/// to trans_b: it goes when nothing is left of it, and stays as it is when something else uses it.
/// Gemm, too, becomes BatchMatMul and Add, except with a factor of C.
absl::Status LowerToBatchedMatmul(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
