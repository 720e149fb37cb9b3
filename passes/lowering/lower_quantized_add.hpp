#pragma once

#include "absl/status/status.h"
#include "passes/pass.hpp"

namespace poprt::passes {

/// Sums of what is dequantised from uint8, quantised to uint8 again, are computed in one step. An
/// activation that only cuts off what quantising cuts off anyway needs nothing. Same bits.
///
/// before: QuantizeLinear(Relu(Add(DequantizeLinear(a, s, p), DequantizeLinear(b, t, q))), u, r)
/// after:  ByteAdd(a, b)
absl::Status LowerQuantizedAdd(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
