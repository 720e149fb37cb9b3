#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: y = Add(x, Sqrt(c))      after: y = Add(x, c2)
///
/// Runs the runtime's own kernels, so that folding never changes a result. Shape and Size become
/// constants too, since shapes are static. Makes no tensor of more than context.max_tensor_size
/// bytes; what no kernel computes stays.
absl::Status ConstantFolding(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
