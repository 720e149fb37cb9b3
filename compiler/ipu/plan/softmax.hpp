#pragma once

#include "compiler/ipu/plan/step_builder.hpp"

namespace poprt::ipu {

/// popnn's softmax (section 2.8): seven compute sets on whole rows when stable, five with
/// enable_non_stable_softmax. Rows that are spread over tiles are brought together first. The
/// logarithmic form subtracts a logarithm instead of multiplying by an inverse.
Placed AddSoftmax(StepBuilder& steps, const Placed& x, std::size_t axis, bool logarithm = false);

}  // namespace poprt::ipu
