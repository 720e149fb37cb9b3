#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// What is dequantised only to be moved, or for the largest of some to be taken, and quantised to
/// the same numbers again, is moved as it is.
///
/// before: QuantizeLinear(MaxPool(DequantizeLinear(x, s, p)), s, p)      after: MaxPool(x)
absl::Status LowerQuantizedMove(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
