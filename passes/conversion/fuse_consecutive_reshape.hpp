#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Reshape(Flatten(x)) shape=[2, -1]      after: Reshape(x) shape=[2, 6]
///
/// The inner node may be Reshape, Flatten, Squeeze or Unsqueeze; the shape is written out.
absl::Status FuseConsecutiveReshape(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
