#pragma once

#include "passes/rewrite.hpp"

namespace poprt::passes {

/// Whether a convolution of x with weights of shape `w` has a form in blocks of bytes that pays for
/// the conversion of its input: images of uint8, one group or single channels. Throws KernelError
/// where the attributes make no sense.
bool HasByteForm(const TensorType& x, const Shape& w, const TensorType& y,
                 const Attributes& attributes);

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

/// A ByteAdd or MaxPool of blocked images of uint8 stays in blocks.
bool BlockBytes(Rewriter& rewriter, ir::Node& node);

}  // namespace poprt::passes
