#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: BatchNormalization(x, scale, bias, mean, var)      after: Add(Mul(x, s), t)
///
/// s = scale / sqrt(var + epsilon), t = bias - mean * s, computed in double.
absl::Status ReplaceBnWithMulAdd(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
