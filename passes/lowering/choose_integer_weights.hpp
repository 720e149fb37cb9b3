#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// Products with weights that were quantised, or rounded to float16 or bfloat16, are computed in
/// integers, which takes less time and memory: the attributes say how many bits a weight has and
/// how many rows share a scale. What weights of 4 and 8 bits multiply is rounded to 16 bits for
/// every 128 numbers. Rounded weights become integers of 16 bits, and what they multiply of 15, for
/// every 64 numbers: results of random numbers are 1.5e-4 off, where rounding the weights to
/// float16 made them 2.1e-4. Without this pass products are those of float32.
///
/// before: FusedMatMul(x, w)      after: FusedMatMul(x, w) bits=4 block=32
absl::Status ChooseIntegerWeights(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
