#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Mul(Mul(x, 0.5), Add(Tanh(Mul(Add(x, Mul(Pow(x, 3), 0.044715)), sqrt(2/pi))), 1))
/// after:  Gelu(x) approximate="tanh"
///
/// The factors may stand in any order, the cube may be a product, and the polynomial may have x as
/// a factor: x * sqrt(2/pi) * (1 + 0.044715 * x * x).
absl::Status GeluPattern(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
