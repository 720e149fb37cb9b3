#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: y = Gather(t, i), i int64      after: y = Gather(t, i), i int32
///
/// Operators that know int64 only, as operand or result (ArgMax, TopK, ...), keep it between Casts,
/// so that the graph stays ONNX. Constants out of range are clipped; a warning names each, unless
/// it only holds the largest or smallest int64, which stand for "to the end". Indices and shapes
/// that are attributes stay as they are.
absl::Status Int64ToInt32(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
