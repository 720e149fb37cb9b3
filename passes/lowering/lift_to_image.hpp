#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// Makes Conv, ConvTranspose and QLinearConv of one spatial axis, with constant weights, those of
/// images of one row: Reshape, the operator, Reshape. What is applied element by element to the
/// result, and nowhere else used, is applied before the second Reshape, and so are pools, means and
/// maxima of rows, and what quantises and dequantises.
absl::Status LiftToImage(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
