#include "passes/rewrite.hpp"

#include <numeric>
#include <utility>

#include "compiler/ir/placement.hpp"

namespace poprt::passes {

using ir::kAbsent;
using ir::Node;
using ir::ValueId;

Rewriter::Rewriter(ir::Graph& graph) : graph_(graph) {
  const ir::Uses uses(graph);
  for (std::size_t i = 0; i < graph.values().size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    producers_.push_back(uses.producer(id));
    node_uses_.push_back(static_cast<int>(uses.consumers(id).size()));
    is_output_.push_back(uses.is_output(id));
  }
  forwarded_.resize(graph.values().size());
  std::iota(forwarded_.begin(), forwarded_.end(), 0);
}

Node* Rewriter::Producer(ValueId id) {
  if (id == kAbsent) return nullptr;
  const auto i = static_cast<std::size_t>(id);
  if (i >= producers_.size() || producers_[i] < 0) return nullptr;
  return &graph_.nodes[static_cast<std::size_t>(producers_[i])];
}

Node* Rewriter::Producer(ValueId id, std::string_view op) {
  Node* node = Producer(id);
  return node != nullptr && node->op == op ? node : nullptr;
}

ValueId Rewriter::Insert(Node node) {
  Grow();
  Count(node.inputs, 1);
  const ValueId result = node.outputs.front();
  insertions_.push_back({position_, std::move(node)});
  return result;
}

ValueId Rewriter::AddConstant(std::string_view name, Tensor tensor) {
  const ValueId id = graph_.AddConstant(name, std::move(tensor));
  Grow();
  return id;
}

void Rewriter::Forward(ValueId from, ValueId to) {
  Grow();
  const auto f = static_cast<std::size_t>(from);
  const auto t = static_cast<std::size_t>(to);
  forwarded_[f] = to;
  node_uses_[t] += std::exchange(node_uses_[f], 0);
  if (is_output_[f]) is_output_[t] = true;
  is_output_[f] = false;
}

bool Rewriter::Bypass(const Node& node, std::size_t i) {
  const ValueId input = node.inputs[i];
  if (graph_.type(node.outputs[0]) != graph_.type(input)) return false;
  Forward(node.outputs[0], input);
  return true;
}

bool Rewriter::Sweep(const Rule& rule) {
  bool changed = false;
  for (position_ = 0; position_ < graph_.nodes.size(); ++position_) {
    Node& node = graph_.nodes[position_];
    Resolve(node.inputs);
    const std::vector<ValueId> before = node.inputs;
    const ir::Placement placement = ir::PlacementOf(node.attributes);
    const std::size_t first_inserted = insertions_.size();
    if (!rule(*this, node)) continue;
    changed = true;
    ir::PlaceIfUnplaced(node, placement);
    for (std::size_t i = first_inserted; i < insertions_.size(); ++i) {
      ir::PlaceIfUnplaced(insertions_[i].node, placement);
    }
    Grow();
    Count(before, -1);
    Count(node.inputs, 1);
  }
  Resolve(graph_.outputs);
  for (ir::OutputExtent& extent : graph_.extents) extent.count = Resolved(extent.count);
  PlaceInserted();
  return changed;
}

void Rewriter::Resolve(std::vector<ValueId>& ids) const {
  for (ValueId& id : ids) id = Resolved(id);
}

ValueId Rewriter::Resolved(ValueId id) const {
  if (id == kAbsent) return id;
  while (static_cast<std::size_t>(id) < forwarded_.size() &&
         forwarded_[static_cast<std::size_t>(id)] != id) {
    id = forwarded_[static_cast<std::size_t>(id)];
  }
  return id;
}

void Rewriter::Grow() {
  const std::size_t size = graph_.values().size();
  node_uses_.resize(size, 0);
  is_output_.resize(size, false);
  while (forwarded_.size() < size) forwarded_.push_back(static_cast<ValueId>(forwarded_.size()));
}

void Rewriter::Count(const std::vector<ValueId>& ids, int change) {
  for (ValueId id : ids) {
    if (id != kAbsent) node_uses_[static_cast<std::size_t>(id)] += change;
  }
}

void Rewriter::PlaceInserted() {
  if (insertions_.empty()) return;
  std::vector<Node> nodes;
  auto next = insertions_.begin();
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    for (; next != insertions_.end() && next->position == i; ++next) {
      nodes.push_back(std::move(next->node));
    }
    nodes.push_back(std::move(graph_.nodes[i]));
  }
  graph_.nodes = std::move(nodes);
}

bool Rewrite(ir::Graph& graph, const Rewriter::Rule& rule) {
  bool changed = false;
  while (Rewriter(graph).Sweep(rule)) {
    graph.Compact();
    changed = true;
  }
  return changed;
}

}  // namespace poprt::passes
