#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: y = Relu(x), z = Exp(x); return y      after: y = Relu(x); return y
absl::Status EliminateDeadend(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
