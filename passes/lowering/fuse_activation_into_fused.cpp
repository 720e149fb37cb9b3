#include "passes/lowering/fuse_activation_into_fused.hpp"

#include <limits>
#include <optional>

#include "passes/constant_values.hpp"
#include "passes/lowering/clip_limits.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/hoist_activation.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

/// An activation as the attributes of a fused operator.
struct Activation {
  ValueId x = ir::kAbsent;  ///< what it is applied to
  int reads = 1;            ///< how many operands of the pattern are x
  Attributes attributes;
};

std::optional<Activation> MatchClip(const ir::Graph& graph, const Node& node) {
  const auto limits = ClipLimitsOf(graph, node);
  if (!limits) return std::nullopt;
  return Activation{
      .x = node.inputs[0],
      .attributes = {{"activation", "clip"}, {"max", limits->high}, {"min", limits->low}}};
}

/// x * Sigmoid(x) and x * HardSigmoid(x) with the constants of HardSwish.
std::optional<Activation> MatchGate(Rewriter& rewriter, const Node& mul) {
  for (const std::size_t i : {0U, 1U}) {
    const Node* gate = rewriter.Producer(mul.inputs[i]);
    if (gate == nullptr || !rewriter.UsedOnlyBy(1, mul.inputs[i])) continue;
    if (gate->inputs[0] != mul.inputs[1 - i]) continue;
    Activation activation{.x = gate->inputs[0], .reads = 2, .attributes = {}};
    if (gate->op == "Sigmoid") {
      activation.attributes.set("activation", "silu");
      return activation;
    }
    const bool is_hard_swish =
        gate->op == "HardSigmoid" && gate->attributes.get_float("beta", 0.5F) == 0.5F &&
        IsNear(gate->attributes.get_float("alpha", 0.2F), 1.0 / 6, ElementType::kFloat32);
    if (!is_hard_swish) continue;
    activation.attributes.set("activation", "hardswish");
    return activation;
  }
  return std::nullopt;
}

std::optional<Activation> Match(Rewriter& rewriter, const Node& node) {
  const auto named = [&](const char* name) {
    return Activation{.x = node.inputs[0], .attributes = {{"activation", name}}};
  };
  if (node.op == "Relu") return named("relu");
  if (node.op == "Sigmoid") return named("sigmoid");
  if (node.op == "Tanh") return named("tanh");
  if (node.op == "HardSwish") return named("hardswish");
  if (node.op == "Swish" && node.attributes.get_float("alpha", 1.0F) == 1.0F) return named("silu");
  if (node.op == "Gelu") {
    return named(node.attributes.get_string("approximate", "none") == "tanh" ? "gelu_tanh"
                                                                             : "gelu_erf");
  }
  if (node.op == "LeakyRelu") {
    Activation activation = named("leaky_relu");
    activation.attributes.set("alpha", node.attributes.get_float("alpha", 0.01F));
    return activation;
  }
  if (node.op == "Clip") return MatchClip(rewriter.graph(), node);
  if (node.op == "Mul") return MatchGate(rewriter, node);
  return std::nullopt;
}

}  // namespace

absl::Status FuseActivationIntoFused(ir::Graph& graph, const PassContext&) {
  HoistActivations(graph, {"Reshape", "Transpose"},
                   [](Rewriter& rewriter, const Node& activation, ValueId value) {
                     return activation.op != "HardSigmoid" && OpenFused(rewriter, value) != nullptr;
                   });
  Rewrite(graph, [](Rewriter& rewriter, Node& node) {
    const std::optional<Activation> activation = Match(rewriter, node);
    if (!activation || !rewriter.UsedOnlyBy(activation->reads, activation->x)) return false;
    Node* fused = OpenFused(rewriter, activation->x);
    if (fused == nullptr) return false;
    BecomeFused(node, *fused);
    for (const auto& [name, value] : activation->attributes.entries()) {
      node.attributes.set(name, value);
    }
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
