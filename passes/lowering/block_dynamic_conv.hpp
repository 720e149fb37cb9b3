#pragma once

#include "passes/rewrite.hpp"

namespace poprt::passes {

/// Computes a Conv of images whose weights the program computes itself (style modulation,
/// correlation with a template) in blocks of channels, with what packs the weights before it, where
/// few channels of blocks are spare. Groups that are no whole blocks become images of their own.
/// Gives whether it did.
///
/// before: Conv(x, w [, bias])
/// after:  UnblockChannels(BlockedDynamicConv(BlockChannels(x), Transpose(Reshape(Pad(w))) [,
/// bias]))
bool BlockDynamicConv(Rewriter& rewriter, ir::Node& conv);

}  // namespace poprt::passes
