#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: a = Exp(x), b = Exp(x), y = Add(a, b)      after: a = Exp(x), y = Add(a, a)
///
/// The first of equal nodes stays. Operators that draw random numbers are never equal.
absl::Status EliminateDuplicateNodes(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
