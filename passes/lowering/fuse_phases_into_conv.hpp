#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// Detectors begin with every second row and column of an image, from the first and from the second
/// on, as channels of their own (*Focus*), which a Conv reads. It may as well read the image, with
/// larger strides and a filter of as many more taps: nothing is moved, nothing else multiplied.
///
/// before: Conv(Concat(x[:, :, ::2, ::2], x[:, :, 1::2, ::2], x[:, :, ::2, 1::2],
///                     x[:, :, 1::2, 1::2]), w[O, 12, 3, 3], b) pads=[1, 1, 1, 1]
/// after:  Conv(x, w'[O, 3, 6, 6], b) pads=[2, 2, 2, 2] strides=[2, 2]
///
/// In any order of the phases, and after SpaceToDepth. Where they have fewer channels than a block:
/// of more, Winograd's algorithm may take less. Sums are rounded in another order.
absl::Status FusePhasesIntoConv(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
