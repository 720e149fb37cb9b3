#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Transpose(Transpose(x) perm=[1, 2, 0]) perm=[0, 2, 1]      after: Transpose(x) perm=[1,
/// 0, 2]
absl::Status FuseConsecutiveTranspose(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
