#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: q = Transpose(Reshape(x)), k = Transpose(Reshape(y)), v = Transpose(Reshape(z))
///         Transpose(MatMul(Softmax(Add(Div(MatMul(q, k), 8), mask)), v))
/// after:  FusedAttention(x, y, z, mask) scale=0.125, views of x, y, z and the result
///
/// float32 and float16, scores of rank 2 to 4, softmax over the last axis. The scale may be a
/// factor or divisor of the scores, of q or of k; the mask may be absent, added, or a Where with a
/// scalar, or a Where and then added; it broadcasts to the scores, but not along the keys. Constant
/// masks that hide what follows the diagonal become the attribute `visible`. Operands are read
/// through the operators that strided_view.hpp names as far as channels still follow each other;
/// a Transpose behind is absorbed while that holds. Scores that anything else reads stay.
absl::Status AttentionPattern(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
