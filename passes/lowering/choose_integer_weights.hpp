#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// Products with weights that were quantised are computed in integers, which takes less time and
/// memory: the attributes say how many bits a weight has and how many rows share a scale. What they
/// multiply is rounded to 16 bits; without this pass products are those of float32.
///
/// before: FusedMatMul(x, w)      after: FusedMatMul(x, w) bits=4 block=32
absl::Status ChooseIntegerWeights(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
