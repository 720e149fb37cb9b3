#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Cast(Cast(x) to=float32) to=int8, x float16      after: Cast(x) to=int8
///
/// Only if every value of x's type is a value of the type between, and casting directly rounds
/// once.
absl::Status FuseConsecutiveCast(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
