#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// Conversions from and to blocks of channels read and write images whose channels come last, so
/// that they need not be transposed.
///
/// before: Reshape(Transpose(UnblockChannels(x)) perm=[0, 2, 3, 1])
/// after:  Reshape(UnblockChannels(x) channels_last=1)
///
/// A convolution of single pixels without a residual writes them itself:
/// before: UnblockChannels(BlockedConv(x, w, bias)) channels_last=1
/// after:  BlockedConv(x, w, bias) channels_last=1
absl::Status FuseTransposeIntoBlocks(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
