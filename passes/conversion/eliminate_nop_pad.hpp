#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: y = Conv(Pad(x) pads=[0, 0, 0, 0], w)      after: y = Conv(x, w)
absl::Status EliminateNopPad(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
