#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: y = Relu(Slice(x) starts=[0] ends=[4]), x of 4 elements      after: y = Relu(x)
absl::Status EliminateNopSlice(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
