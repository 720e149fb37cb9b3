#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// Convolution networks in blocks of 16 channels from their first convolution on, with conversions
/// where something else reads them.
///
/// before: FusedConv(MaxPool(FusedConv(x, v)), w)
/// after:  UnblockChannels(BlockedConv(BlockedMaxPool(BlockedConv(x, v)), w))
absl::Status BlockChannels(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
