#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// Convolutions of images of one pixel, as in squeeze-and-excitation blocks and heads, sum as many
/// products as they have weights: those of 16384 or more are products of matrices, which read them
/// once for all images, and in fewer bits (choose_short_weights.hpp). Without groups, padding and
/// residual.
///
/// before: FusedConv(x, w), x of [B, C, 1, 1], w of [O, C, 1, 1]
/// after: Reshape(FusedMatMul(Reshape(x) [B, C], w [O, C]) trans_b=1) [B, O, 1, 1]
absl::Status LowerPixelConv(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
