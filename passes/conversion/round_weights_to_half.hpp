#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: MatMul(x, w), Gemm(x, w)      after: the same with w rounded to float16
///
/// The constants stay float32, and so does everything that is computed; matrices with rows or
/// columns that float16 is too narrow for are left alone, with a warning. The host backend stores
/// such weights in half the bytes and multiplies by them in integers, see choose_integer_weights.
absl::Status RoundWeightsToHalf(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
