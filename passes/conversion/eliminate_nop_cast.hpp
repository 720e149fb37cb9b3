#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: y = Relu(Cast(x) to=float32), x float32      after: y = Relu(x)
absl::Status EliminateNopCast(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
