#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// Floats that are quantised only to be taken back, as models with simulated quantisation (QDQ)
/// have them before every operator, become what that does to them, which chains of elementwise
/// operators compute in one pass and in blocks of channels. One scale and zero point p for the
/// whole tensor, integers in [low, high]. The results are the same but for the sign of zero;
/// where x is not a number, for which ONNX defines none, they are not numbers.
///
/// before: DequantizeLinear(QuantizeLinear(x, s, p), t, p)
/// after:  Mul(Round(Clip(Div(x, s), low - p, high - p)), t)
absl::Status LowerQuantizePair(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
