#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// before: Add(Mul(Add(Mul(x, a), b), c), d)      after: Add(Mul(x, a * c), b * c + d)
///
/// a to d are constants with one value for each channel, or one for all. Computes in double and
/// rounds once. Results that something else reads stay.
absl::Status FuseConsecutiveAffine(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
