#include "compiler/frontend/control_flow/loop_count.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "compiler/ops/random_ops.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::frontend {
namespace {

using ir::Node;
using ir::ValueId;

constexpr std::int64_t kMostIterations = 10'000;
/// Counters are small.
constexpr std::int64_t kMostElements = 64;

/// The part of a loop's body that its condition depends on.
class ConditionSlice {
 public:
  explicit ConditionSlice(const LoopBody& body) : body_(body) {}

  /// False if it needs what is not known.
  bool Find() {
    for (const Node& node : body_.graph->nodes) {
      for (const ValueId id : node.outputs) producers_[id] = &node;
    }
    std::vector<ValueId> needed{body_.goes_on};
    while (!needed.empty()) {
      const ValueId id = needed.back();
      needed.pop_back();
      if (!Need(id, needed)) return false;
    }
    for (const Node& node : body_.graph->nodes) {
      if (needed_nodes_.count(&node) > 0) nodes_.push_back(&node);
    }
    return true;
  }

  /// Whether the loop goes on behind iteration `number`; carried values move on.
  bool Run(std::int64_t number) {
    values_[body_.iteration] = Tensor({ElementType::kInt64, {}}, &number);
    const std::uint8_t truth = 1;
    values_[body_.condition] = Tensor({ElementType::kBool, {}}, &truth);
    for (const auto& [i, tensor] : carried_) values_[body_.carried[i]] = tensor;
    for (const Node* node : nodes_) Compute(*node);
    for (auto& [i, tensor] : carried_) tensor = ValueOf(body_.next[i]);
    return ValueOf(body_.goes_on).as<std::uint8_t>()[0] != 0;
  }

 private:
  /// What must be known before the value is: appended to `needed`. False if it never is.
  bool Need(ValueId id, std::vector<ValueId>& needed) {
    if (id == ir::kAbsent || id == body_.iteration || id == body_.condition) return true;
    const ir::Graph& graph = *body_.graph;
    if (ElementCount(graph.type(id).shape) > kMostElements) return false;
    if (graph.ConstantOf(id) != nullptr) return true;
    const auto carried = std::ranges::find(body_.carried, id);
    if (carried != body_.carried.end()) {
      const auto i = static_cast<std::size_t>(carried - body_.carried.begin());
      if (body_.first[i] == nullptr) return false;
      if (carried_.emplace(i, *body_.first[i]).second) needed.push_back(body_.next[i]);
      return true;
    }
    const auto producer = producers_.find(id);
    if (producer == producers_.end()) return false;  // a value of the graph around
    const Node& node = *producer->second;
    const bool computes =
        node.regions.empty() && !ops::IsRandom(node.op) && kernels::FindKernel(node.op) != nullptr;
    if (computes && needed_nodes_.insert(&node).second) {
      needed.insert(needed.end(), node.inputs.begin(), node.inputs.end());
    }
    return computes;
  }

  Tensor ValueOf(ValueId id) const {
    if (id == ir::kAbsent) return {};
    const Tensor* constant = body_.graph->ConstantOf(id);
    return constant != nullptr ? *constant : values_.at(id);
  }

  void Compute(const Node& node) {
    std::vector<Tensor> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(ValueOf(id));
    std::vector<TensorType> types;
    // The importer gives outputs that are left out a value, too.
    for (const ValueId id : node.outputs) types.push_back(body_.graph->type(id));
    std::vector<Tensor> results = kernels::RunOnce(node.op, inputs, types, node.attributes);
    for (std::size_t i = 0; i < results.size(); ++i) values_[node.outputs[i]] = results[i];
  }

  const LoopBody& body_;
  std::map<ValueId, const Node*> producers_;
  std::set<const Node*> needed_nodes_;
  std::vector<const Node*> nodes_;  ///< those needed, in order
  std::map<std::size_t, Tensor> carried_;
  std::map<ValueId, Tensor> values_;
};

}  // namespace

std::optional<std::int64_t> IterationsOf(const LoopBody& body, std::optional<std::int64_t> limit) {
  ConditionSlice slice(body);
  if (!slice.Find()) return std::nullopt;
  try {
    for (std::int64_t i = 0; i < limit.value_or(kMostIterations); ++i) {
      if (i == kMostIterations) return std::nullopt;
      if (!slice.Run(i)) return i + 1;
    }
  } catch (const std::exception&) {
    return std::nullopt;  // the loop itself will say what is wrong
  }
  return limit;
}

}  // namespace poprt::frontend
