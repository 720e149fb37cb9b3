#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Unsqueeze(Unsqueeze(x) axes=[0]) axes=[2]      after: Unsqueeze(x) axes=[0, 2]
absl::Status FuseConsecutiveUnsqueeze(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
