#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: s = Add(a, b), y = LayerNormalization(s, g, c) axis=-1, Add(s, ...)
/// after:  y, s = FusedNorm(a, g, c, b), Add(s, ...)
///
/// Also RMSNormalization, and both without an Add before them. float32 and float16, normalised over
/// the last axis, g and c with one element for each of a row's; a and b of the sum's shape. The
/// second output is there if anything else reads the sum, all of which must stand behind the
/// normalisation, else the Add stays.
absl::Status LowerToFusedNorm(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
