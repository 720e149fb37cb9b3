#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: y = Relu(Transpose(x) perm=[0, 1])      after: y = Relu(x)
///
/// A permutation that only moves axes of extent 1 counts as well if the shape stays.
absl::Status EliminateNopTranspose(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
