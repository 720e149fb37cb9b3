#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// Makes trees of element-wise operators over one shape, whose inner results nobody else reads, one
/// FusedElementwise that runs through the data once. Functions that cost much (Exp, Tanh, ...)
/// and operators that repeat the elements of an operand become one even alone: it has faster forms
/// of them.
absl::Status FuseElementwiseChain(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
