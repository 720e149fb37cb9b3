#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// Makes trees of element-wise operators over one shape, whose inner results nobody else reads, one
/// FusedElementwise that runs through the data once; operators alone, too, since it stores whole
/// cache lines and has faster forms of functions that cost much. DequantizeLinear of bytes belongs
/// to every tree that reads it, QuantizeLinear to bytes ends one; alone both stay.
absl::Status FuseElementwiseChain(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
