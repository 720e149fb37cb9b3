#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// A MatMul over channels that a Transpose brings to the end, and another one back, sums at single
/// pixels where they lie: a convolution, which needs no Transpose. Attention with talking heads is
/// written like that.
///
/// before: Transpose(FusedMatMul(Transpose(x[B, C, H, W] perm=[0, 2, 3, 1]), w[C, O], bias)
///                   perm=[0, 3, 1, 2])
/// after:  FusedConv(x, w'[O, C, 1, 1], bias)
///
/// The same with one spatial axis, as an image of one row. Not for more than 512 channels, whose
/// sums take longer than the Transposes, nor for fewer than 16 pixels.
absl::Status LowerChannelMatMul(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
