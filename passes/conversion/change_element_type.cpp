#include "passes/conversion/change_element_type.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ops/op.hpp"

namespace poprt::passes {
namespace {

using ir::kAbsent;
using ir::Node;
using ir::ValueId;

/// Changes the types of one graph's values, then mends the nodes that can't follow.
class Changer {
 public:
  Changer(ir::Graph& graph, const ElementTypeChange& change) : graph_(graph), change_(change) {}

  void Run() {
    if (!Applies()) return;
    ChangeValues();
    std::vector<Node> nodes = std::exchange(graph_.nodes, {});
    if (change_.keep_interface) KeepInputs();
    for (Node& node : nodes) {
      const Attributes before = node.attributes;
      ChangeAttributes(node);
      if (!MustKeep(node)) {
        graph_.nodes.push_back(std::move(node));
        continue;
      }
      node.attributes = before;
      KeepNode(std::move(node));
    }
    if (change_.keep_interface) KeepOutputs();
    graph_.Compact();
    ConvertConstants();
  }

 private:
  bool Applies() const {
    for (const ir::Value& value : graph_.values()) {
      if (value.type.element == change_.from) return true;
    }
    return false;
  }

  void ChangeValues() {
    for (std::size_t i = 0; i < graph_.values().size(); ++i) {
      ir::Value& value = graph_.value(static_cast<ValueId>(i));
      if (value.type.element != change_.from) continue;
      changed_.emplace(static_cast<ValueId>(i), value.constant);
      value.type.element = change_.to;
    }
  }

  /// Last, so that nothing is said of constants that only nodes with the old type read.
  void ConvertConstants() {
    for (std::size_t i = 0; i < graph_.values().size(); ++i) {
      ir::Value& value = graph_.value(static_cast<ValueId>(i));
      if (!value.constant || value.constant->type() == value.type) continue;
      value.constant = change_.convert(value.name, *value.constant);
    }
  }

  void ChangeAttributes(Node& node) const {
    for (const char* name : {"to", "dtype", "output_dtype", "precision"}) {
      const AttributeValue* value = node.attributes.find(name);
      if (value != nullptr && *value == AttributeValue(Number(change_.from))) {
        node.attributes.set(name, Number(change_.to));
      }
    }
    const std::vector<Attributes::Entry> entries = node.attributes.entries();
    for (const auto& [name, value] : entries) {
      const Tensor* tensor = std::get_if<Tensor>(&value);
      if (tensor == nullptr || tensor->element() != change_.from) continue;
      node.attributes.set(name, change_.convert(node.name + "." + name, *tensor));
    }
  }

  static std::int64_t Number(ElementType type) { return static_cast<std::int64_t>(type); }

  bool IsChanged(ValueId id) const { return id != kAbsent && changed_.count(id) > 0; }

  bool MustKeep(const Node& node) const {
    bool touched = false;
    for (const auto* ids : {&node.inputs, &node.outputs}) {
      for (ValueId id : *ids) touched = touched || IsChanged(id);
    }
    if (!touched) return false;
    if (!node.regions.empty()) return true;
    return change_.keep.count(node.op) > 0 || !RuleAllows(node);
  }

  /// Operators without a row are taken to allow everything.
  bool RuleAllows(const Node& node) const {
    const ops::OpDef* op = ops::FindOp(node.op);
    if (op == nullptr) return true;
    std::vector<TensorType> inputs;
    for (ValueId id : node.inputs) {
      inputs.push_back(id == kAbsent ? TensorType{} : graph_.type(id));
    }
    const auto types = ops::InferTypes(*op, {.op = node.op,
                                             .inputs = std::move(inputs),
                                             .attributes = node.attributes,
                                             .outputs = node.outputs.size()});
    if (!types.ok()) return false;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      if (id != kAbsent && graph_.type(id) != (*types)[i]) return false;
    }
    return true;
  }

  /// Appends the node on values of the old type, with the Casts that it needs.
  void KeepNode(Node node) {
    for (ValueId& id : node.inputs) {
      if (IsChanged(id)) id = InOldType(id);
    }
    std::vector<Node> casts;
    for (ValueId& id : node.outputs) {
      if (!IsChanged(id)) continue;
      const ValueId changed = std::exchange(id, AddOldType(id));
      old_types_[changed] = id;
      casts.push_back(MakeCast(id, changed, change_.to));
    }
    graph_.nodes.push_back(std::move(node));
    for (Node& cast : casts) graph_.nodes.push_back(std::move(cast));
  }

  void KeepInputs() {
    for (ValueId& id : graph_.inputs) {
      if (!IsChanged(id)) continue;
      const ValueId changed = std::exchange(id, AddOldType(id));
      old_types_[changed] = id;
      graph_.nodes.push_back(MakeCast(id, changed, change_.to));
    }
  }

  void KeepOutputs() {
    for (ValueId& id : graph_.outputs) {
      if (IsChanged(id)) id = InOldType(id);
    }
  }

  ValueId InOldType(ValueId id) {
    if (const auto found = old_types_.find(id); found != old_types_.end()) return found->second;
    ValueId old_type = kAbsent;
    if (const std::optional<Tensor>& constant = changed_.at(id)) {
      old_type = graph_.AddConstant(OldTypeName(id), *constant);
    } else {
      old_type = AddOldType(id);
      graph_.nodes.push_back(MakeCast(id, old_type, change_.from));
    }
    old_types_[id] = old_type;
    return old_type;
  }

  std::string OldTypeName(ValueId id) const {
    return graph_.value(id).name + "_" + std::string(ElementName(change_.from));
  }

  ValueId AddOldType(ValueId id) {
    return graph_.AddValue(OldTypeName(id), {change_.from, graph_.type(id).shape});
  }

  Node MakeCast(ValueId from, ValueId to, ElementType type) {
    return {.name = graph_.UniqueName(graph_.value(from).name + "_cast"),
            .op = "Cast",
            .inputs = {from},
            .outputs = {to},
            .attributes = {{"to", Number(type)}}};
  }

  ir::Graph& graph_;
  const ElementTypeChange& change_;
  /// Values that changed, with their elements before.
  std::map<ValueId, std::optional<Tensor>> changed_;
  /// What stands for a changed value where the old type is needed.
  std::map<ValueId, ValueId> old_types_;
};

}  // namespace

void ChangeElementType(ir::Graph& graph, const ElementTypeChange& change) {
  Changer(graph, change).Run();
}

}  // namespace poprt::passes
