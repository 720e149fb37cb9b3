#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Div(BatchMatMul(a, b) scale=1, 8)      after: BatchMatMul(a, b) scale=0.125
///
/// Requires a constant scalar and a product that nothing else uses.
absl::Status FuseScaleIntoBatchedMatmul(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
