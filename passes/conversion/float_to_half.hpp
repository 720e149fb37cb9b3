#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: y = Conv(x, w) : float32      after: y = Conv(x, w) : float16
///
/// Constants beyond 65504 are clipped (infinities stay), and constants all of whose elements are
/// too small for float16, that is epsilons, are raised to its smallest number, 2^-24; one warning
/// each. Attributes stay float32. Operators in context.fp16_skip_op_types, and those whose rule has
/// no form for float16, keep float32 between Casts, one for each value. InvalidArgument lists every
/// name in fp16_skip_op_types that is no operator, with the nearest one.
absl::Status FloatToHalf(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
