#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// Winograd's algorithm for the 3x3 convolutions in blocks that it makes faster. It rounds
/// differently: without this pass every convolution sums products in order.
///
/// before: BlockedConv(x, w)      after: BlockedConv(x, w) winograd_tile=4
absl::Status ChooseWinograd(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
