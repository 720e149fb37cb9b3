#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: y = Exp(x) : float64      after: y = Exp(x) : float32
///
/// Constants out of the range of float32 are clipped, with one warning each.
absl::Status DoubleToFloat(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
