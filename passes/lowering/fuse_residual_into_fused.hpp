#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Add(FusedConv(x, w, b), r)      after: FusedConv(x, w, b, r)
///
/// r has the result's type; nothing else uses the convolution, and it has no residual or activation
/// yet. The fused node stands where the Add stood, after r is defined. Of two candidates the later
/// one.
absl::Status FuseResidualIntoFused(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
