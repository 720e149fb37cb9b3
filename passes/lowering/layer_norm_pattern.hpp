#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: d = Sub(x, ReduceMean(x)), Add(Mul(Div(d, Sqrt(Add(ReduceMean(Mul(d, d)), e))), g), b)
/// after:  LayerNormalization(x, g, b) axis=-1 epsilon=e
///
/// before: Mul(Div(x, Sqrt(Add(ReduceMean(Mul(x, x)), e))), g)
/// after:  RMSNormalization(x, g) axis=-1 epsilon=e
///
/// The square may be Pow(d, 2) or Mul(d, d), the means over any number of last axes, the division a
/// product with the Reciprocal or with a quotient of one; g and b may be absent.
absl::Status LayerNormPattern(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
