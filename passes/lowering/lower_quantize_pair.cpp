#include "passes/lowering/lower_quantize_pair.hpp"

#include <optional>

#include "passes/constant_values.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/quantized/quantized.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

bool IsFloat(const ir::Graph& graph, ValueId id) {
  return graph.type(id).element == ElementType::kFloat32;
}

/// What all elements of a tensor are quantised with.
struct Parameters {
  double scale;
  double point;
};

/// Of QuantizeLinear or DequantizeLinear, where all is constant and computed in float32.
std::optional<Parameters> ParametersOf(const ir::Graph& graph, const Node& node) {
  constexpr auto kPrecision = static_cast<std::int64_t>(ElementType::kFloat32);
  const std::int64_t precision = node.attributes.get_int("precision", 0);
  if (!IsFloat(graph, node.inputs[1]) || (precision != 0 && precision != kPrecision)) return {};
  const auto scale = UniformValue(graph, node.inputs[1]);
  const bool has_point = HasInput(node, 2);
  const auto point = has_point ? UniformValue(graph, node.inputs[2]) : 0.0;
  if (!scale || !point || !(*scale > 0)) return {};
  return Parameters{*scale, *point};
}

bool Lower(Rewriter& rewriter, Node& node) {
  ir::Graph& graph = rewriter.graph();
  if (node.op != "DequantizeLinear") return false;
  const Node* quantize = rewriter.Producer(node.inputs[0], "QuantizeLinear");
  if (quantize == nullptr) return false;
  const ValueId x = quantize->inputs[0];
  const ElementType integers = graph.type(node.inputs[0]).element;
  if (!IsFloat(graph, x) || !IsFloat(graph, node.outputs[0]) ||
      !kernels::Contains(kernels::kQuantizedIntegers, integers)) {
    return false;
  }
  const auto there = ParametersOf(graph, *quantize);
  const auto back = ParametersOf(graph, node);
  if (!there || !back || there->point != back->point) return false;
  const auto [low, high] = kernels::RangeOf(integers);
  const TensorType type = graph.type(node.outputs[0]);
  const auto number = [&](std::string_view name, double value) {
    return rewriter.AddConstant(node.name + std::string(name),
                                FromDoubles({ElementType::kFloat32, {}}, {{value}}));
  };
  const auto insert = [&](const char* op, std::vector<ValueId> inputs, const char* name) {
    return rewriter.Insert(graph.MakeNode(op, std::move(inputs), type, {}, node.name + name));
  };
  const ValueId steps = insert("Div", {x, number("_scale", there->scale)}, "_steps");
  const ValueId clipped = insert(
      "Clip", {steps, number("_low", low - there->point), number("_high", high - there->point)},
      "_clipped");
  node.op = "Mul";
  node.attributes = {};
  node.inputs = {insert("Round", {clipped}, "_rounded"), number("_back", back->scale)};
  return true;
}

}  // namespace

absl::Status LowerQuantizePair(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, Lower);
  return absl::OkStatus();
}

}  // namespace poprt::passes
