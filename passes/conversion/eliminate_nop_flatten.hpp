#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: y = Relu(Flatten(x) axis=1), x of rank 2      after: y = Relu(x)
absl::Status EliminateNopFlatten(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
