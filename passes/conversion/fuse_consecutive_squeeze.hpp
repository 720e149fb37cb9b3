#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Squeeze(Squeeze(x) axes=[0]) axes=[1]      after: Squeeze(x) axes=[0, 2]
absl::Status FuseConsecutiveSqueeze(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
