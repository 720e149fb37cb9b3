#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: constants w, v; y = Add(x, w)      after: constant w; y = Add(x, w)
absl::Status EliminateUnusedInitializer(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
