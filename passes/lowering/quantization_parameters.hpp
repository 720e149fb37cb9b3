#pragma once

#include <optional>

#include "compiler/ir/graph.hpp"

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

}  // namespace poprt::passes
