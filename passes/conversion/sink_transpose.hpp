#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// Element-wise operators of two values with their axes in the same other order come before that
/// order, which what follows often takes back; reductions name the axes as they were. So are
/// channels written that come last between convolutions.
///
/// before: Mul(Transpose(a) perm=p, Transpose(b) perm=p)
/// after:  Transpose(Mul(a, b)) perm=p
/// before: ReduceMean(Transpose(x) perm=[0, 2, 3, 1]) axes=[1, 2] keepdims=0
/// after:  ReduceMean(x) axes=[2, 3] keepdims=0
absl::Status SinkTranspose(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
