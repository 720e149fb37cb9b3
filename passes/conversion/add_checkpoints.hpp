#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: y = Relu(c), c = Conv(x); return y      after, checkpoints {c}: return y, c
///
/// Appends context.checkpoints to the outputs, in the order given; what is an output already stays
/// as it is. Runs first, while values still have the names that the model gave them.
/// InvalidArgument lists every name that is no value of the graph, with the nearest one.
absl::Status AddCheckpoints(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
