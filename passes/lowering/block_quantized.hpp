#pragma once

#include "passes/rewrite.hpp"

namespace poprt::passes {

/// Computes a QLinearConv of images of uint8 with constant parameters, weights without zero points
/// (signed, or unsigned around 128), and one group or single channels, in blocks of channels. Gives
/// whether it did.
///
/// before: QLinearConv(x, x_scale, x_point, w, w_scale, w_point, y_scale, y_point [, bias])
/// after:  UnblockChannels(BlockedByteConv(BlockChannels(x), w, bases, factors))
bool BlockQLinearConv(Rewriter& rewriter, ir::Node& conv);

/// A QuantizeLinear or DequantizeLinear of a blocked image with one scale, from or to uint8, stays
/// in blocks.
bool BlockQuantization(Rewriter& rewriter, ir::Node& node);

}  // namespace poprt::passes
