#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: FusedConv(shuffle(x), w, bias), depthwise      after: shuffle(FusedConv(x, w', bias'))
///
/// w' and bias' are w and bias in the order of the channels of x. There the shuffle meets the
/// convolution that sums over channels, which finds them in any order, see block_channels. Nothing
/// else uses the shuffled channels.
absl::Status SinkChannelShuffle(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
