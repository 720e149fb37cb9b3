#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// Groups of 4 or 8 channels become groups of 16, with zeros for the channels of other groups, so
/// that the convolution can be computed in blocks of channels: two to four times the
/// multiplications, but several times as fast each.
///
/// before: Conv(x, w[128, 4, 3, 3]) group=32
/// after:  Conv(x, w'[128, 16, 3, 3]) group=8
///
/// Filters of more than one tap only. A NaN or an infinity in x may make the outputs of all
/// groups that are put together NaN.
absl::Status MergeGroups(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
