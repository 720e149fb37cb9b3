#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Pow(x, 2)      after: Mul(x, x)
absl::Status ReplacePow(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
