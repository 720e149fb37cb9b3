#include "passes/lowering/hoist_activation.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "passes/constant_values.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

bool IsActivation(const ir::Graph& graph, const Node& node) {
  static constexpr std::array<std::string_view, 7> kUnary = {
      "Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSwish", "HardSigmoid", "Gelu"};
  if (std::ranges::find(kUnary, node.op) != kUnary.end()) return true;
  if (node.op != "Clip") return false;
  const auto is_constant = [&](std::size_t i) {
    return !HasInput(node, i) || graph.ConstantOf(node.inputs[i]) != nullptr;
  };
  return is_constant(1) && is_constant(2);
}

/// The node that moves elements and whose operand may take the activation instead, or null.
Node* MoverOf(Rewriter& rewriter, ValueId id, int uses, std::string_view mover,
              const std::set<std::string_view>& producers) {
  Node* node = rewriter.Producer(id, mover);
  if (node == nullptr || !rewriter.UsedOnlyBy(uses, id)) return nullptr;
  if (!rewriter.UsedOnlyBy(1, node->inputs[0])) return nullptr;
  const Node* producer = rewriter.Producer(node->inputs[0]);
  return producer != nullptr && producers.contains(producer->op) ? node : nullptr;
}

/// `node`, which computes an element-wise function, becomes the mover of `moved`.
void BecomeMover(Node& node, const Node& mover, ValueId moved) {
  node.op = mover.op;
  node.inputs = {moved};
  node.attributes = mover.attributes;
}

}  // namespace

void HoistActivations(ir::Graph& graph, std::string_view mover,
                      const std::set<std::string_view>& producers) {
  Rewrite(graph, [&](Rewriter& rewriter, Node& node) {
    ir::Graph& g = rewriter.graph();
    if (IsActivation(g, node)) {
      const Node* moves = MoverOf(rewriter, node.inputs[0], 1, mover, producers);
      if (moves == nullptr) return false;
      std::vector<ValueId> inputs = node.inputs;
      inputs[0] = moves->inputs[0];
      const ValueId result = rewriter.Insert(
          g.MakeNode(node.op, inputs, g.type(inputs[0]), node.attributes, node.name));
      BecomeMover(node, *moves, result);
      return true;
    }
    if (node.op != "Mul") return false;
    for (const std::size_t i : {0U, 1U}) {
      const Node* gate = rewriter.Producer(node.inputs[i], "Sigmoid");
      if (gate == nullptr || gate->inputs[0] != node.inputs[1 - i]) continue;
      if (!rewriter.UsedOnlyBy(1, node.inputs[i])) continue;
      const Node* moves = MoverOf(rewriter, gate->inputs[0], 2, mover, producers);
      if (moves == nullptr) continue;
      const ValueId x = moves->inputs[0];
      const ValueId sigmoid =
          rewriter.Insert(g.MakeNode("Sigmoid", {x}, g.type(x), {}, gate->name));
      const ValueId result =
          rewriter.Insert(g.MakeNode("Mul", {x, sigmoid}, g.type(x), {}, node.name));
      BecomeMover(node, *moves, result);
      return true;
    }
    return false;
  });
}

}  // namespace poprt::passes
