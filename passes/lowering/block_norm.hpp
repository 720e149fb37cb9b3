#pragma once

#include "passes/rewrite.hpp"

namespace poprt::passes {

/// Computes InstanceNormalization, GroupNormalization, or a Reshape which ends a group
/// normalization of images that is written as one of rows, in blocks of channels where the image
/// is blocked. What is subtracted and multiplied is element-wise, so that it joins what follows.
/// Gives whether it did.
///
/// before: InstanceNormalization(x, scale, bias)
/// after:  UnblockChannels(Add(Mul(Sub(b, mean), factor), bias)) with b of x in blocks and
///         mean, factor = BlockedMoments(b, scale)
bool BlockNorm(Rewriter& rewriter, ir::Node& node);

}  // namespace poprt::passes
