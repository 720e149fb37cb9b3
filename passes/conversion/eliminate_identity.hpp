#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: y = Relu(Identity(x))      after: y = Relu(x)
///
/// A Dropout whose mask is used stays.
absl::Status EliminateIdentity(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
