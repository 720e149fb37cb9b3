#pragma once

#include <string>
#include <vector>

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// Operators with equal keys run the same code (section 6): all but the first get `outlined`. A run
/// of them is one call: what it reads, weights too, is copied to where the code expects it, which
/// the first operator of every run pays for. Runs whose value by PopART's measure is less than
/// outline_threshold stay as they are.
void OutlineOperators(const Target& target, const PlanOptions& options,
                      const std::vector<std::string>& keys, GraphPlan& plan);

}  // namespace poprt::ipu
