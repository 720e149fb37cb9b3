#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: BatchNormalization(Conv(x, w, b), scale, bias, mean, var)      after: Conv(x, w2, b2)
///
/// The same for ConvTranspose, and for Mul and Add by constants with one value for each channel.
/// Requires constants everywhere but x and a Conv that nothing else
/// uses. Computes in double and rounds once to the type of the weights.
absl::Status FuseBnIntoConv(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
