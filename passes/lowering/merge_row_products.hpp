#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// Products of parts of one value, few rows each, with the same weights become one product of all
/// of it, which reads the weights once: a recurrent cell that was unrolled multiplies what it reads
/// at every step. The parts are those of any axis but the last, as Gather of one index, Slice,
/// Split and what removes an axis make them; at least half of them must be multiplied.
///
/// before: FusedMatMul(Gather(x, 0), w), FusedMatMul(Gather(x, 1), w), ...
/// after:  all = FusedMatMul(x, w); Gather(all, 0), Gather(all, 1), ...
absl::Status MergeRowProducts(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
