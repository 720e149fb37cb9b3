#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Add(Conv(x, w1, b1), Conv(x, w2, b2))      after: Conv(x, w, b)
///
/// The branches of blocks that are trained with several and deployed with one (RepVGG, MobileOne),
/// also where one of them is x itself or its BatchNormalization. Requires constants everywhere but
/// x, branches that nothing else uses, equal strides and groups, no dilation, and that the kernel
/// which covers both has no more taps than they have together. Computes in double and rounds once
/// to the type of the weights.
absl::Status FuseParallelConv(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
