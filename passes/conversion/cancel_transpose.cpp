#include "passes/conversion/cancel_transpose.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/placement.hpp"
#include "passes/permutation.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

/// Results are computed from the elements at one position of the operands, after broadcasting.
constexpr std::array<std::string_view, 33> kElementwise{
    "Abs",       "Add",  "Cast",       "Ceil",  "Celu",           "Clip",        "Div",
    "Elu",       "Erf",  "Exp",        "Floor", "Gelu",           "HardSigmoid", "HardSwish",
    "LeakyRelu", "Log",  "Max",        "Min",   "Mish",           "Mul",         "Neg",
    "PRelu",     "Pow",  "Reciprocal", "Relu",  "Selu",           "Sigmoid",     "Softplus",
    "Softsign",  "Sqrt", "Sub",        "Tanh",  "ThresholdedRelu"};

/// By a value, the value with its axes in another order.
using Cancelled = std::map<ir::ValueId, ir::ValueId>;

/// Puts the axes of a value into another order, without a Transpose.
class Canceller {
 public:
  /// The new nodes run at `placement`; `known` is of `perm`.
  Canceller(Rewriter& rewriter, const Ints& perm, const ir::Placement& placement, Cancelled& known)
      : rewriter_(rewriter), perm_(perm), placement_(placement), known_(known) {}

  /// Whether few new nodes compute it.
  bool Can(ir::ValueId value) {
    const ir::Graph& graph = rewriter_.graph();
    if (value == ir::kAbsent || known_.contains(value)) return true;
    if (const Tensor* constant = graph.ConstantOf(value)) return IsAlongOneAxis(constant->shape());
    const ir::Node* node = rewriter_.Producer(value);
    if (node == nullptr || graph.type(value).shape.size() != perm_.size()) return false;
    if (node->op == "Transpose") return IsTakenBack(*node);
    constexpr std::size_t kMostNodes = 16;
    if (!seen_.insert(value).second) return true;
    return seen_.size() <= kMostNodes && CanMove(*node) &&
           std::ranges::all_of(node->inputs, [&](ir::ValueId input) { return Can(input); });
  }

  /// Makes what Can says.
  ir::ValueId Make(ir::ValueId value) {
    if (value == ir::kAbsent) return value;
    const auto known = known_.find(value);
    return known != known_.end() ? known->second : known_[value] = MakeNew(value);
  }

 private:
  bool IsAlongOneAxis(const Shape& shape) const {
    return shape.size() <= perm_.size() &&
           std::ranges::count_if(shape, [](std::int64_t extent) { return extent != 1; }) <= 1;
  }

  bool IsTakenBack(const ir::Node& transpose) const {
    return std::ranges::is_sorted(Permuted(PermutationOf(rewriter_.graph(), transpose), perm_));
  }

  bool CanMove(const ir::Node& node) const {
    if (ir::PlacementOf(node.attributes) != placement_) return false;
    if (node.op == "Concat") return true;
    if (node.op == "QuantizeLinear" || node.op == "DequantizeLinear") {
      return rewriter_.graph().type(node.inputs[1]).shape.empty();
    }
    if (node.op == "Pad") return !node.attributes.has("axes");
    return std::ranges::find(kElementwise, node.op) != kElementwise.end();
  }

  Attributes MovedAttributes(const ir::Node& node) const {
    Attributes attributes = node.attributes;
    if (node.op == "Concat") {
      const std::int64_t axis = *NormalizeAxis(attributes.get_int("axis", 0), perm_.size());
      attributes.set("axis", std::int64_t{std::ranges::find(perm_, axis) - perm_.begin()});
    } else if (node.op == "Pad") {
      const Ints pads = attributes.get_ints("pads");
      const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(perm_.size());
      Ints moved = Permuted(Ints(pads.begin(), middle), perm_);
      const Ints behind = Permuted(Ints(middle, pads.end()), perm_);
      moved.insert(moved.end(), behind.begin(), behind.end());
      attributes.set("pads", moved);
    }
    return attributes;
  }

  ir::ValueId MakeNew(ir::ValueId value) {
    ir::Graph& graph = rewriter_.graph();
    if (const Tensor* constant = graph.ConstantOf(value)) {
      if (constant->count() == 1) return value;
      Shape shape(perm_.size() - constant->shape().size(), 1);
      shape.insert(shape.end(), constant->shape().begin(), constant->shape().end());
      return rewriter_.AddConstant(
          graph.value(value).name,
          constant->WithType({constant->element(), Permuted(shape, perm_)}));
    }
    const ir::Node& node = *rewriter_.Producer(value);
    if (node.op == "Transpose") return node.inputs[0];
    std::vector<ir::ValueId> inputs;
    for (const ir::ValueId input : node.inputs) inputs.push_back(Make(input));
    const TensorType& type = graph.type(value);
    return rewriter_.Insert(graph.MakeNode(node.op, std::move(inputs),
                                           {type.element, Permuted(type.shape, perm_)},
                                           MovedAttributes(node), node.name));
  }

  Rewriter& rewriter_;
  const Ints& perm_;
  ir::Placement placement_;
  Cancelled& known_;
  std::set<ir::ValueId> seen_;
};

bool Cancel(Rewriter& rewriter, const ir::Node& node, std::map<Ints, Cancelled>& known) {
  if (node.op != "Transpose") return false;
  const Ints perm = PermutationOf(rewriter.graph(), node);
  Canceller canceller(rewriter, perm, ir::PlacementOf(node.attributes), known[perm]);
  if (!canceller.Can(node.inputs[0])) return false;
  rewriter.Forward(node.outputs[0], canceller.Make(node.inputs[0]));
  return true;
}

}  // namespace

absl::Status CancelTranspose(ir::Graph& graph, const PassContext&) {
  for (bool changed = true; changed;) {
    // By order of axes, and of one sweep: values have other numbers after it.
    std::map<Ints, Cancelled> known;
    changed = Rewriter(graph).Sweep(
        [&](Rewriter& rewriter, const ir::Node& node) { return Cancel(rewriter, node, known); });
    if (changed) graph.Compact();
  }
  return absl::OkStatus();
}

}  // namespace poprt::passes
