#include "passes/lowering/lower_quantize_pair.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "passes/constant_values.hpp"
#include "passes/lowering/quantization_parameters.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/quantized/quantized.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

bool IsFloat(const ir::Graph& graph, ValueId id) {
  return graph.type(id).element == ElementType::kFloat32;
}

/// What is quantised only to be dequantised.
std::set<ValueId> OnlyDequantized(const ir::Graph& graph) {
  const ir::Uses uses(graph);
  std::set<ValueId> found;
  for (const Node& node : graph.nodes) {
    if (node.op != "QuantizeLinear" || uses.is_output(node.outputs[0])) continue;
    const bool all = std::ranges::all_of(uses.consumers(node.outputs[0]), [&](auto position) {
      return graph.nodes[static_cast<std::size_t>(position)].op == "DequantizeLinear";
    });
    if (all) found.insert(node.outputs[0]);
  }
  return found;
}

bool Lower(Rewriter& rewriter, Node& node, const std::set<ValueId>& only_dequantized) {
  ir::Graph& graph = rewriter.graph();
  if (node.op != "DequantizeLinear" || !only_dequantized.contains(node.inputs[0])) return false;
  const Node* quantize = rewriter.Producer(node.inputs[0], "QuantizeLinear");
  if (quantize == nullptr) return false;
  const ValueId x = quantize->inputs[0];
  const ElementType integers = graph.type(node.inputs[0]).element;
  if (!IsFloat(graph, x) || !IsFloat(graph, node.outputs[0]) ||
      !kernels::Contains(kernels::kQuantizedIntegers, integers)) {
    return false;
  }
  const auto there = QuantizationParametersOf(graph, *quantize);
  const auto back = QuantizationParametersOf(graph, node);
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
  const std::set<ValueId> only_dequantized = OnlyDequantized(graph);
  const auto lower = [&](Rewriter& rewriter, Node& node) {
    return Lower(rewriter, node, only_dequantized);
  };
  if (Rewriter(graph).Sweep(lower)) graph.Compact();
  return absl::OkStatus();
}

}  // namespace poprt::passes
