#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: return y, z      after, remove_outputs {z}: return y
///
/// Guarantees that nodes only the removed outputs needed are gone; inputs stay. InvalidArgument
/// lists every name that is no output, with the nearest one, and says so when no output would
/// remain.
absl::Status RemoveOutputs(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
