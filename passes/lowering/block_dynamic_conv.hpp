#pragma once

#include "passes/rewrite.hpp"

namespace poprt::passes {

/// Computes a Conv of images whose weights the program computes itself (style modulation,
/// correlation with a template) in blocks of channels, where its groups are whole blocks or single
/// channels, with what packs the weights before it. Gives whether it did.
///
/// before: Conv(x, w [, bias])
/// after:  UnblockChannels(BlockedDynamicConv(BlockChannels(x), Transpose(Reshape(w)) [, bias]))
bool BlockDynamicConv(Rewriter& rewriter, ir::Node& conv);

}  // namespace poprt::passes
