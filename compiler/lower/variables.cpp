#include "compiler/lower/variables.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "compiler/ir/control_flow.hpp"

namespace poprt::lower {
namespace {

using ir::ValueId;

bool IsWeight(const ir::Value& value) {
  const ElementType element = value.type.element;
  return value.is_constant() && (IsFloat(element) || IsNarrowFloat(element)) &&
         !value.type.shape.empty() && value.type.bytes() > 0;
}

bool SameElements(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() &&
         (a.data() == b.data() || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

/// Makes the weights in the regions of a graph constants of the graph, which the regions capture.
class Hoisting {
 public:
  explicit Hoisting(ir::Graph& graph) : graph_(graph) {
    for (std::size_t i = 0; i < graph.values().size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      if (graph.value(id).is_constant()) constants_[graph.value(id).name] = id;
    }
  }

  void Run() {
    for (ir::Node& node : graph_.nodes) {
      for (std::size_t r = 0; r < node.regions.size(); ++r) HoistFrom(node, r);
    }
  }

 private:
  void HoistFrom(ir::Node& node, std::size_t r) {
    ir::Graph& region = node.regions[r];
    Hoisting(region).Run();
    const ir::Uses uses(region);
    const auto count = static_cast<ValueId>(region.values().size());
    for (ValueId id = 0; id < count; ++id) {
      if (IsWeight(region.value(id)) && uses.count(id) > 0) Capture(node, r, id);
    }
  }

  /// The constant of the graph that a constant of a region becomes.
  ValueId Outside(const ir::Value& inside) {
    const auto [at, added] = constants_.try_emplace(inside.name, ir::kAbsent);
    if (!added && SameElements(*graph_.ConstantOf(at->second), *inside.constant)) {
      return at->second;
    }
    const ValueId id = graph_.AddConstant(inside.name, *inside.constant);
    if (added) at->second = id;
    return id;
  }

  void Capture(ir::Node& node, std::size_t r, ValueId id) {
    const ir::Value inside = node.regions[r].value(id);
    const ValueId outside = Outside(inside);
    const auto first = node.inputs.begin() + static_cast<std::ptrdiff_t>(ir::FirstCaptured(node));
    auto captured = std::find(first, node.inputs.end(), outside);
    if (captured == node.inputs.end()) {
      for (ir::Graph& region : node.regions) {
        region.inputs.push_back(region.AddValue(inside.name, inside.type));
      }
      captured = node.inputs.insert(node.inputs.end(), outside);
    }
    const auto position = static_cast<std::size_t>(captured - node.inputs.begin());
    ir::Graph& region = node.regions[r];
    region.ReplaceUses(id, region.inputs[ir::RegionInput(node, position)]);
  }

  ir::Graph& graph_;
  std::map<std::string, ValueId> constants_;
};

}  // namespace

std::vector<Weight> TakeWeights(ir::Graph& graph) {
  Hoisting(graph).Run();
  const ir::Uses uses(graph);
  std::vector<Weight> weights;
  const auto count = static_cast<ValueId>(graph.values().size());
  for (ValueId id = 0; id < count; ++id) {
    ir::Value& value = graph.value(id);
    const bool is_output =
        uses.is_output(id) ||
        std::ranges::find(graph.output_names, value.name) != graph.output_names.end();
    if (!IsWeight(value) || uses.consumers(id).empty() || is_output) continue;
    weights.push_back({value.name, *value.constant});
    value.constant.reset();
    graph.inputs.push_back(id);
  }
  return weights;
}

}  // namespace poprt::lower
