#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// Pads with zeros inside the Conv behind them, and computes no more of its result than a Slice
/// behind it takes: causal convolutions are written either way. Any number of spatial axes.
///
/// before: Slice(Conv(Pad(x) pads=[0, 0, 2, 0, 0, 0], w) pads=[0, 1]) ends=[-1]
/// after:  Conv(x, w) pads=[2, 0]
absl::Status FuseMarginsIntoConv(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
