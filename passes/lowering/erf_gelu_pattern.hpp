#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Mul(Mul(x, 0.5), Add(Erf(Div(x, sqrt(2))), 1))      after: Gelu(x) approximate="none"
///
/// The three factors may stand in any order, the quotient may be a product with 1/sqrt(2).
absl::Status ErfGeluPattern(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
