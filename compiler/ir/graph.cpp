#include "compiler/ir/graph.hpp"

#include <algorithm>
#include <utility>

#include "compiler/ir/control_flow.hpp"

namespace poprt::ir {

std::string Graph::UniqueName(std::string_view wanted) {
  std::string candidate(wanted.empty() ? "unnamed" : wanted);
  const std::string stem = candidate;
  for (int suffix = 1; names_.count(candidate) > 0; ++suffix) {
    candidate = stem + "_" + std::to_string(suffix);
  }
  names_.insert(candidate);
  return candidate;
}

ValueId Graph::AddValue(std::string_view wanted, TensorType type) {
  values_.push_back({.name = UniqueName(wanted), .type = std::move(type), .constant = {}});
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId Graph::AddConstant(std::string_view wanted, Tensor tensor) {
  const ValueId id = AddValue(wanted, tensor.type());
  value(id).constant = std::move(tensor);
  return id;
}

Node Graph::MakeNode(std::string_view op, std::vector<ValueId> node_inputs, TensorType type,
                     Attributes attributes, std::string_view wanted) {
  Node node{.name = UniqueName(wanted),
            .op = std::string(op),
            .inputs = std::move(node_inputs),
            .outputs = {},
            .attributes = std::move(attributes)};
  node.outputs.push_back(AddValue(node.name + ":0", std::move(type)));
  return node;
}

const Tensor* Graph::ConstantOf(ValueId id) const {
  if (id == kAbsent || !value(id).is_constant()) return nullptr;
  return &*value(id).constant;
}

void Graph::ReplaceUses(ValueId from, ValueId to) {
  for (Node& node : nodes) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  std::replace(outputs.begin(), outputs.end(), from, to);
  for (OutputExtent& extent : extents) {
    if (extent.count == from) extent.count = to;
  }
}

void Graph::SelectOutputs(const std::vector<std::size_t>& positions) {
  std::vector<ValueId> ids;
  std::vector<std::string> names;
  std::vector<OutputExtent> selected;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    ids.push_back(outputs[positions[i]]);
    names.push_back(output_names[positions[i]]);
    for (const OutputExtent& extent : extents) {
      if (extent.output == positions[i]) selected.push_back({i, extent.axis, extent.count});
    }
  }
  outputs = std::move(ids);
  output_names = std::move(names);
  extents = std::move(selected);
}

int Graph::Compact() {
  std::vector<bool> live(values_.size(), false);
  for (ValueId id : inputs) live[static_cast<std::size_t>(id)] = true;
  for (ValueId id : outputs) live[static_cast<std::size_t>(id)] = true;
  for (const OutputExtent& extent : extents) live[static_cast<std::size_t>(extent.count)] = true;

  std::vector<Node> kept;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const bool used = std::any_of(node->outputs.begin(), node->outputs.end(), [&](ValueId id) {
      return id != kAbsent && live[static_cast<std::size_t>(id)];
    });
    if (!used) continue;
    if (!node->regions.empty()) {
      std::vector<bool> is_used;
      for (ValueId id : node->outputs) {
        is_used.push_back(id != kAbsent && live[static_cast<std::size_t>(id)]);
      }
      CompactRegions(*node, is_used);
    }
    for (const auto* operands : {&node->inputs, &node->outputs}) {
      for (ValueId id : *operands) {
        if (id != kAbsent) live[static_cast<std::size_t>(id)] = true;
      }
    }
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  const int removed = static_cast<int>(nodes.size() - kept.size());
  nodes = std::move(kept);

  std::vector<ValueId> renumbered(values_.size(), kAbsent);
  std::vector<Value> values;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!live[i]) continue;
    renumbered[i] = static_cast<ValueId>(values.size());
    values.push_back(std::move(values_[i]));
  }
  values_ = std::move(values);
  const auto renumber = [&](std::vector<ValueId>& ids) {
    for (ValueId& id : ids) {
      if (id != kAbsent) id = renumbered[static_cast<std::size_t>(id)];
    }
  };
  renumber(inputs);
  renumber(outputs);
  for (OutputExtent& extent : extents) {
    extent.count = renumbered[static_cast<std::size_t>(extent.count)];
  }
  names_.clear();
  for (const Value& value : values_) names_.insert(value.name);
  for (Node& node : nodes) {
    renumber(node.inputs);
    renumber(node.outputs);
    names_.insert(node.name);
  }
  return removed;
}

Uses::Uses(const Graph& graph)
    : consumers_(graph.values().size()),
      output_uses_(graph.values().size(), 0),
      producers_(graph.values().size(), -1) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto position = static_cast<std::int32_t>(i);
    for (ValueId id : graph.nodes[i].inputs) {
      if (id != kAbsent) consumers_[static_cast<std::size_t>(id)].push_back(position);
    }
    for (ValueId id : graph.nodes[i].outputs) {
      if (id != kAbsent) producers_[static_cast<std::size_t>(id)] = position;
    }
  }
  for (ValueId id : graph.outputs) ++output_uses_[static_cast<std::size_t>(id)];
  for (const OutputExtent& extent : graph.extents) {
    ++output_uses_[static_cast<std::size_t>(extent.count)];
  }
}

int Uses::count(ValueId id) const {
  return static_cast<int>(consumers(id).size()) + output_uses_[static_cast<std::size_t>(id)];
}

namespace {

/// Walks a graph once and keeps the first invariant that does not hold.
class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), defined_(graph.values().size(), false) {}

  std::optional<std::string> Run() {
    std::unordered_set<std::string> value_names;
    for (std::size_t i = 0; i < graph_.values().size(); ++i) CheckValue(i, value_names);
    for (ValueId id : graph_.inputs) Define(id, "graph inputs");
    std::unordered_set<std::string> node_names;
    for (const Node& node : graph_.nodes) {
      Expect(node_names.insert(node.name).second, "two nodes are called '" + node.name + "'");
      for (ValueId id : node.inputs) {
        if (id != kAbsent) Use(id, "node '" + node.name + "'");
      }
      for (ValueId id : node.outputs) {
        if (id != kAbsent) Define(id, "node '" + node.name + "'");
      }
      CheckRegions(node);
    }
    for (ValueId id : graph_.outputs) Use(id, "graph outputs");
    Expect(graph_.outputs.size() == graph_.output_names.size(), "an output has no name");
    for (std::size_t i = 0; i < graph_.extents.size(); ++i) CheckExtent(i);
    return problem_;
  }

 private:
  void Expect(bool condition, const std::string& message) {
    if (!condition && !problem_) problem_ = "graph '" + graph_.name + "': " + message;
  }

  void CheckRegions(const Node& node) {
    if (problem_) return;
    for (std::size_t i = 0; i < node.regions.size(); ++i) {
      const auto inside = Verify(node.regions[i]);
      Expect(!inside, "in " + DescribeRegion(node, i) + ": " + inside.value_or(""));
    }
    if (problem_) return;
    const auto problem = FindRegionProblem(graph_, node);
    Expect(!problem, "node '" + node.name + "': " + problem.value_or(""));
  }

  void CheckValue(std::size_t i, std::unordered_set<std::string>& names) {
    const Value& value = graph_.values()[i];
    Expect(!value.name.empty() && names.insert(value.name).second,
           "two values are called '" + value.name + "'");
    Expect(value.type.defined() && CheckedElementCount(value.type.shape).has_value(),
           "value '" + value.name + "' has no valid type");
    if (!value.is_constant()) return;
    defined_[i] = true;
    Expect(value.constant->type() == value.type, "constant '" + value.name + "' is declared as " +
                                                     ToString(value.type) + " but holds " +
                                                     ToString(value.constant->type()));
  }

  void CheckExtent(std::size_t i) {
    const OutputExtent& extent = graph_.extents[i];
    const std::string where = "extent of output " + std::to_string(extent.output);
    Expect(extent.output < graph_.outputs.size(), where + ": there is no such output");
    Expect(i == 0 || graph_.extents[i - 1].output < extent.output, where + ": out of order");
    Use(extent.count, where);
    if (problem_) return;
    const TensorType& count = graph_.type(extent.count);
    Expect(extent.axis < graph_.type(graph_.outputs[extent.output]).shape.size(),
           where + ": there is no axis " + std::to_string(extent.axis));
    Expect(count.shape.empty() &&
               (count.element == ElementType::kInt64 || count.element == ElementType::kInt32),
           where + ": value '" + graph_.value(extent.count).name + "' is " + ToString(count) +
               ", not a scalar of int32 or int64");
  }

  bool InRange(ValueId id, const std::string& where) {
    const bool ok = id >= 0 && static_cast<std::size_t>(id) < defined_.size();
    Expect(ok, where + ": value number " + std::to_string(id) + " does not exist");
    return ok;
  }

  void Define(ValueId id, const std::string& where) {
    if (!InRange(id, where)) return;
    Expect(!defined_[static_cast<std::size_t>(id)],
           where + ": value '" + graph_.value(id).name + "' is defined again");
    defined_[static_cast<std::size_t>(id)] = true;
  }

  void Use(ValueId id, const std::string& where) {
    if (!InRange(id, where)) return;
    Expect(defined_[static_cast<std::size_t>(id)],
           where + ": value '" + graph_.value(id).name + "' is used before it is defined");
  }

  const Graph& graph_;
  std::vector<bool> defined_;
  std::optional<std::string> problem_;
};

std::string Operands(const Graph& graph, const std::vector<ValueId>& ids) {
  std::string text;
  for (ValueId id : ids) {
    if (!text.empty()) text += ", ";
    text += id == kAbsent ? "-" : graph.value(id).name;
  }
  return text;
}

std::string Text(const Graph& graph, const std::string& indent) {
  std::string text = indent + "graph " + graph.name + "(" + Operands(graph, graph.inputs) + ")\n";
  for (const Node& node : graph.nodes) {
    text += indent + "  " + Operands(graph, node.outputs) + " = " + node.op + "(" +
            Operands(graph, node.inputs) + ")";
    for (const Attributes::Entry& entry : node.attributes.entries()) {
      text += " " + ToString(entry);
    }
    if (!node.outputs.empty() && node.outputs.front() != kAbsent) {
      text += " : " + ToString(graph.type(node.outputs.front()));
    }
    text += "\n";
    for (const Graph& region : node.regions) text += Text(region, indent + "    ");
  }
  text += indent + "  return " + Operands(graph, graph.outputs) + "\n";
  for (const OutputExtent& extent : graph.extents) {
    text += indent + "  output " + std::to_string(extent.output) + " axis " +
            std::to_string(extent.axis) + " up to " + graph.value(extent.count).name + "\n";
  }
  return text;
}

}  // namespace

std::optional<std::string> Verify(const Graph& graph) { return Verifier(graph).Run(); }

std::string ToString(const Graph& graph) { return Text(graph, ""); }

}  // namespace poprt::ir
