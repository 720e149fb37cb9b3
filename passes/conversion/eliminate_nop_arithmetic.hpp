#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: y = Relu(Mul(x, 1))      after: y = Relu(x)
///
/// Only where type and shape stay and the result is the same for every x, bit by bit: for floats
/// that excludes adding +0 or subtracting -0, which turn -0 into +0.
absl::Status EliminateNopArithmetic(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
