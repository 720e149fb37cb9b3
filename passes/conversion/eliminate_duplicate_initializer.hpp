#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Add(x, c1), Mul(x, c2), c1 == c2      after: Add(x, c1), Mul(x, c1)
///
/// The first of equal constants stays. Compares bytes, so zeros of different signs are not equal.
absl::Status EliminateDuplicateInitializer(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
