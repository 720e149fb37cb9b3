#include "passes/lowering/quantization_parameters.hpp"

#include <limits>

#include "passes/constant_values.hpp"
#include "passes/lowering/clip_limits.hpp"
#include "passes/lowering/fused_operator.hpp"

namespace poprt::passes {
namespace {

/// Where an activation cuts off; nothing for others.
std::optional<ClipLimits> LimitsOf(const ir::Graph& graph, const ir::Node& node) {
  if (node.op == "Relu")
    return ClipLimits{.low = 0, .high = std::numeric_limits<float>::infinity()};
  return node.op == "Clip" ? ClipLimitsOf(graph, node) : std::nullopt;
}

/// Whether quantising to uint8 cuts off all that the limits do.
bool CutsOff(const QuantizationParameters& to, const ClipLimits& limits) {
  constexpr double kLargest = 255;
  return static_cast<double>(
             limits.low)<(0.5 - to.point) * to.scale&& static_cast<double>(limits.high)>(
             kLargest - 0.5 - to.point) *
         to.scale;
}

}  // namespace

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

ir::ValueId BeforeCutOff(Rewriter& rewriter, const ir::Node& quantize,
                         const QuantizationParameters& to) {
  const ir::ValueId value = quantize.inputs[0];
  const ir::Node* activation = rewriter.Producer(value);
  if (activation == nullptr || !rewriter.UsedOnlyBy(1, value)) return value;
  const auto limits = LimitsOf(rewriter.graph(), *activation);
  return limits && CutsOff(to, *limits) ? activation->inputs[0] : value;
}

}  // namespace poprt::passes
