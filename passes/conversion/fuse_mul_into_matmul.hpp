#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Mul(MatMul(x, w), c)      after: MatMul(x, w2)
///
/// c is a scalar or one factor for each column of w, and nothing else uses the product.
absl::Status FuseMulIntoMatmul(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
