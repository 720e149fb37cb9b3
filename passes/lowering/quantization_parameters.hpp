#pragma once

#include <optional>

#include "compiler/ir/graph.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {

/// What all elements of a tensor are quantised with.
struct QuantizationParameters {
  double scale;
  double point;
};

/// Of a QuantizeLinear or DequantizeLinear with one positive scale and one zero point for all
/// elements, where both are constants and it computes in float32; else nothing.
std::optional<QuantizationParameters> QuantizationParametersOf(const ir::Graph& graph,
                                                               const ir::Node& node);

/// What a QuantizeLinear to uint8 with parameters `to` would as well quantise: its input, or where
/// that is an activation which cuts off no more than quantising does, the activation's.
ir::ValueId BeforeCutOff(Rewriter& rewriter, const ir::Node& quantize,
                         const QuantizationParameters& to);

}  // namespace poprt::passes
