#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Sum(a, b, c)      after: Add(Add(a, b), c)
///
/// More than two operands in float32 only: other types would round in between.
absl::Status ReplaceSumWithAdd(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
