#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: BlockedConv(BlockedConv(x, w, bias), f, filter_bias), the first of single pixels and the
///         second depthwise
/// after:  BlockedPointwiseDepthwise(x, w, bias, f, filter_bias)
///
/// The image between them, which is the largest of such networks, never goes to memory. Neither has
/// a residual, nothing else uses the image, and the rows that a window covers fit the cache.
absl::Status FusePointwiseDepthwise(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
