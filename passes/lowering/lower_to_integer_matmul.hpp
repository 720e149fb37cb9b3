#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// Positions of inputs of IntegerMatMul behind those of MatMulInteger.
inline constexpr std::size_t kIntegerScales = 4;
inline constexpr std::size_t kIntegerBias = 5;

/// MatMulInteger with a constant matrix and one zero point for the left operand becomes
/// IntegerMatMul, whose weights are packed at compile time. It takes in what dynamically quantised
/// models have behind it: a Cast to float32, a factor (one, or one per column) and a constant
/// vector that is added; and a QuantizeLinear of that with constant parameters, which become the
/// attributes y_scale and y_point.
///
/// before: Add(Mul(Cast(MatMulInteger(a, B, p, q)), s), bias)
/// after:  IntegerMatMul(a, B, p, q, s, bias)
absl::Status LowerToIntegerMatmul(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
