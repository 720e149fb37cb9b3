#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// Winograd's algorithm for the convolutions in blocks that it makes faster: of stride 1, with
/// filters of three taps or more along an axis, wider ones in parts of three. It rounds
/// differently: without this pass every convolution sums products in order.
///
/// before: BlockedConv(x, w)      after: BlockedConv(x, w) winograd_tile=4
absl::Status ChooseWinograd(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
