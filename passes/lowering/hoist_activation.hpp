#pragma once

#include <functional>
#include <set>
#include <string_view>

#include "passes/rewrite.hpp"

namespace poprt::passes {

/// Whether a value is the result of an operator that this activation can be fused with.
using TakesActivation =
    std::function<bool(Rewriter& rewriter, const ir::Node& activation, ir::ValueId value)>;

/// Of the results of these operators.
TakesActivation ResultOf(std::set<std::string_view> operators);

/// Moves activations of one operand (Relu, Clip with constant bounds, ..., x * Sigmoid(x) and x *
/// HardSigmoid(x)) from the results of operators that only move elements, `movers`, one behind the
/// other, to the value that they begin with, where that takes activations and nothing else reads
/// what lies between.
void HoistActivations(ir::Graph& graph, const std::set<std::string_view>& movers,
                      const TakesActivation& takes_activation);

}  // namespace poprt::passes
