#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// Convolutions of images with simulated quantisation (QDQ) that have a form in blocks of bytes
/// become those of integers that they simulate. Weights are found to be multiples by int8 of a
/// scale for each channel, as DequantizeLinear has made them; a constant bias is rounded to the
/// unit of the sums. An activation that only cuts off what quantising cuts off anyway needs
/// nothing. The results are those of exact sums: they differ from the simulation by one where that,
/// whose sums are floats and whose bias may be off by a 64th, rounds to another integer. Signed
/// activations are made unsigned first, which changes no number.
///
/// before: QuantizeLinear(Relu(Conv(DequantizeLinear(x, s, p), w, b)), t, q)
/// after:  QLinearConv(x, s, p, w8, w_scales, w_points, t, q, b32)
absl::Status LowerQuantizedConv(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
