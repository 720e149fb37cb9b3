#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: y = Relu(Reshape(x) shape=[2, 3]), x of shape [2, 3]      after: y = Relu(x)
absl::Status EliminateNopReshape(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
