#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// Convolution networks of float16 are computed as those of float32, in blocks of channels, with
/// every result rounded to float16 but those of operators that only move or choose elements.
///
/// before: y = FusedConv(x, w) : float16
/// after:  y = RoundHalf(FusedConv(Cast(x), w)) : float32
///
/// Inputs and outputs keep their types.
absl::Status WidenHalfImages(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
