#include "passes/lowering/quantization_parameters.hpp"

#include "passes/constant_values.hpp"
#include "passes/lowering/fused_operator.hpp"

namespace poprt::passes {

std::optional<QuantizationParameters> QuantizationParametersOf(const ir::Graph& graph,
                                                               const ir::Node& node) {
  constexpr auto kPrecision = static_cast<std::int64_t>(ElementType::kFloat32);
  const std::int64_t precision = node.attributes.get_int("precision", 0);
  const bool is_float = graph.type(node.inputs[1]).element == ElementType::kFloat32;
  if (!is_float || (precision != 0 && precision != kPrecision)) return {};
  const auto scale = UniformValue(graph, node.inputs[1]);
  const auto point = HasInput(node, 2) ? UniformValue(graph, node.inputs[2]) : 0.0;
  if (!scale || !point || !(*scale > 0)) return {};
  return QuantizationParameters{*scale, *point};
}

}  // namespace poprt::passes
