#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// Element-wise operators of two values whose axes were put into the same order come before that
/// order, and reductions name the axes as they were before. What follows often takes the order
/// back: TensorFlow's models have channels last, those of ONNX's convolutions are not.
///
/// before: Mul(Transpose(a) perm=p, Transpose(b) perm=p)
/// after:  Transpose(Mul(a, b)) perm=p
/// before: ReduceMean(Transpose(x) perm=[0, 2, 3, 1]) axes=[1, 2] keepdims=0
/// after:  ReduceMean(x) axes=[2, 3] keepdims=0
absl::Status SinkTranspose(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
