#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// Convolutions with few output channels, as networks that make images end with, leave most of a
/// block of channels empty. Their channels become those of several neighbouring pixels: the Conv
/// gets as many times the channels, a filter that covers the windows of all these pixels, and
/// strides as many times as large; a SubpixelShuffle puts the pixels in place.
///
/// before: Conv(x, w[3, C, 9, 9])
/// after:  SubpixelShuffle(Conv(x, w'[15, C, 9, 13]) strides=[1, 5]) blocks=[1, 5]
///
/// Where that needs at most half of the multiplications, those for empty channels included, or
/// costs less than every other algorithm for the Conv (passes/lowering/convolution_cost.hpp). A
/// NaN or an infinity in x may make all pixels NaN that are computed together from it.
absl::Status LowerThinConv(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
