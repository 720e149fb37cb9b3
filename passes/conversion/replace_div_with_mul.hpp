#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Div(x, 8)      after: Mul(x, 0.125)
///
/// Exact: only for floats, and only if every reciprocal is a normal number of the type.
absl::Status ReplaceDivWithMul(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
