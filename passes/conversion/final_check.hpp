#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before == after
///
/// InvalidArgument lists every node whose operands or results do not fit the operator table.
/// Operators of the backend are not checked.
absl::Status FinalCheck(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
