#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Relu(FusedConv(x, w, b))      after: FusedConv(x, w, b) activation="relu"
///
/// "relu", "clip" (min, max), "gelu_erf", "gelu_tanh", "sigmoid", "tanh", "silu" (x * Sigmoid(x)),
/// "hardswish", "leaky_relu" (alpha). Nothing else may use the value before the activation.
///
/// Reshapes and Transposes between them, as heads of detectors have them, come behind:
/// before: Sigmoid(Reshape(Transpose(FusedConv(x, w, b))))
/// after:  Reshape(Transpose(FusedConv(x, w, b) activation="sigmoid"))
absl::Status FuseActivationIntoFused(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
