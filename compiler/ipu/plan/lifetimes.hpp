#pragma once

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// Sets TensorPlan::first and last from the order of the operators: from the one that makes a
/// tensor, or reads it first, to the last that reads it. Weights are there from the first operator,
/// what the host reads stays to the last.
void FindLifetimes(GraphPlan& graph);

}  // namespace poprt::ipu
