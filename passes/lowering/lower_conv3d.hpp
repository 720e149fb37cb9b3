#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// Makes Conv of volumes with constant weights and one group a Conv of images: the slices of a
/// window become channels of one image for each slice of the result. Makes ConvTranspose of volumes
/// whose windows lie side by side one of images.
absl::Status LowerConv3d(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
