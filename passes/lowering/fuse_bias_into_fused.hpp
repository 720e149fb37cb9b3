#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Add(FusedMatMul(x, w), b)      after: FusedMatMul(x, w, b)
///
/// b is constant, with one value for each column or channel; nothing else uses the product, and it
/// has no bias, residual or activation yet.
absl::Status FuseBiasIntoFused(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
