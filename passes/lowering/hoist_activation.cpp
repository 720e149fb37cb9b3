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

/// What moves elements on the way from a value that takes activations.
struct Way {
  const std::set<std::string_view>& movers;
  const TakesActivation& takes_activation;

  /// The mover whose result is `id`, read `uses` times.
  Node* MoverOf(Rewriter& rewriter, ValueId id, int uses) const {
    Node* node = rewriter.Producer(id);
    if (node == nullptr || !movers.contains(node->op)) return nullptr;
    return rewriter.UsedOnlyBy(uses, id) ? node : nullptr;
  }

  /// The last mover before what `activation` is applied to, a value that is read `uses` times, or
  /// null.
  Node* LastMover(Rewriter& rewriter, const Node& activation, ValueId id, int uses) const {
    Node* const last = MoverOf(rewriter, id, uses);
    for (const Node* mover = last; mover != nullptr;
         mover = MoverOf(rewriter, mover->inputs[0], 1)) {
      const ValueId from = mover->inputs[0];
      if (!rewriter.UsedOnlyBy(1, from)) return nullptr;
      if (takes_activation(rewriter, activation, from)) return last;
    }
    return nullptr;
  }
};

/// `node`, which computes an element-wise function, becomes the mover of `moved`.
void BecomeMover(Node& node, const Node& mover, ValueId moved) {
  node.op = mover.op;
  node.inputs = mover.inputs;
  node.inputs[0] = moved;
  node.attributes = mover.attributes;
}

}  // namespace

TakesActivation ResultOf(std::set<std::string_view> operators) {
  return [operators = std::move(operators)](Rewriter& rewriter, const Node&, ValueId value) {
    const Node* producer = rewriter.Producer(value);
    return producer != nullptr && operators.contains(producer->op);
  };
}

void HoistActivations(ir::Graph& graph, const std::set<std::string_view>& movers,
                      const TakesActivation& takes_activation) {
  const Way way{movers, takes_activation};
  Rewrite(graph, [&](Rewriter& rewriter, Node& node) {
    ir::Graph& g = rewriter.graph();
    if (IsActivation(g, node)) {
      const Node* moves = way.LastMover(rewriter, node, node.inputs[0], 1);
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
      const Node* gate = rewriter.Producer(node.inputs[i]);
      if (gate == nullptr || (gate->op != "Sigmoid" && gate->op != "HardSigmoid")) continue;
      if (gate->inputs[0] != node.inputs[1 - i]) continue;
      if (!rewriter.UsedOnlyBy(1, node.inputs[i])) continue;
      const Node* moves = way.LastMover(rewriter, node, gate->inputs[0], 2);
      if (moves == nullptr) continue;
      const ValueId x = moves->inputs[0];
      const ValueId sigmoid =
          rewriter.Insert(g.MakeNode(gate->op, {x}, g.type(x), gate->attributes, gate->name));
      const ValueId result =
          rewriter.Insert(g.MakeNode("Mul", {x, sigmoid}, g.type(x), {}, node.name));
      BecomeMover(node, *moves, result);
      return true;
    }
    return false;
  });
}

}  // namespace poprt::passes
