#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: BatchNormalization(Gemm(x, w, c), scale, bias, mean, var)      after: Gemm(x, w2, c2)
///
/// Requires constants everywhere but x, c absent or one value for each column, and a Gemm that
/// nothing else uses. alpha and beta become part of the constants.
absl::Status FuseBnIntoGemm(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
