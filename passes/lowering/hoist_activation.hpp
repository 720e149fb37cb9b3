#pragma once

#include <set>
#include <string_view>

#include "compiler/ir/graph.hpp"

namespace poprt::passes {

/// Moves activations of one operand (Relu, Clip with constant bounds, ..., and x * Sigmoid(x)) from
/// the result of an operator that only moves elements, `mover`, to its operand, where that is the
/// result of one of `producers` and nothing else reads either. There they can be fused.
void HoistActivations(ir::Graph& graph, std::string_view mover,
                      const std::set<std::string_view>& producers);

}  // namespace poprt::passes
