#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: y = Relu(Expand(x) shape=[1, 1])      after: y = Relu(x)
absl::Status EliminateNopExpand(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
