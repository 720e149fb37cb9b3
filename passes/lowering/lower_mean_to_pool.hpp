#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// Means over height and width become poolings, which convolution networks compute in blocks of
/// channels.
///
/// before: ReduceMean(x) axes=[2, 3] keepdims=0
/// after:  Reshape(GlobalAveragePool(x))
absl::Status LowerMeanToPool(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
