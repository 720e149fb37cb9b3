#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// Makes ConvTranspose of images with constant weights a Conv of stride 1 that computes all
/// stride x stride phases of the result as channels, and a SubpixelShuffle that puts them in place:
/// every weight is multiplied as often as the definition says, but for the zeros that fill up a
/// kernel whose extents are no multiples of the strides. Where they and what the padding cuts off
/// would be an eighth of all, every phase becomes a Conv of its own.
absl::Status LowerConvTranspose(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
