#include "passes/lowering/lower_to_fused_norm.hpp"

#include <utility>
#include <vector>

#include "passes/lowering/fused_operator.hpp"

namespace poprt::passes {
namespace {

using ir::Node;

constexpr std::size_t kScale = 1;
constexpr std::size_t kAddend = 3;

/// Whether the kernel norm_rows can compute the node.
bool IsNormOfRows(const ir::Graph& graph, const Node& node) {
  if (node.op != "LayerNormalization" && node.op != "RMSNormalization") return false;
  const TensorType& type = graph.type(node.inputs[0]);
  if (!IsBackendType(type.element) || type.shape.empty()) return false;
  const auto axis = NormalizeAxis(node.attributes.get_int("axis", -1), type.shape.size());
  if (!axis || static_cast<std::size_t>(*axis) + 1 != type.shape.size()) return false;
  if (type.shape.back() == 0 || node.outputs.size() != 1) return false;
  const TensorType parameter{type.element, {type.shape.back()}};
  for (std::size_t i = kScale; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != ir::kAbsent && graph.type(node.inputs[i]) != parameter) return false;
  }
  return true;
}

/// The Add whose sum the node at `position` normalises, if that is the first to read it.
const Node* AddBefore(const ir::Graph& graph, const ir::Uses& uses, std::size_t position) {
  const ir::ValueId sum = graph.nodes[position].inputs[0];
  const std::int32_t producer = uses.producer(sum);
  if (producer < 0 || uses.consumers(sum).front() != static_cast<std::int32_t>(position)) {
    return nullptr;
  }
  const Node& add = graph.nodes[static_cast<std::size_t>(producer)];
  const bool same = add.op == "Add" && graph.type(add.inputs[0]) == graph.type(sum) &&
                    graph.type(add.inputs[1]) == graph.type(sum);
  return same ? &add : nullptr;
}

void Lower(Node& norm) {
  norm.attributes = {{"epsilon", norm.attributes.get_float("epsilon", 1e-5F)},
                     {"rms", std::int64_t{norm.op == "RMSNormalization" ? 1 : 0}}};
  norm.op = "FusedNorm";
}

/// Adds inside the normalisation of the sum, which has `uses` uses.
void TakeAdd(Node& norm, const Node& add, int uses) {
  norm.inputs.resize(kAddend, ir::kAbsent);
  norm.inputs.push_back(add.inputs[1]);
  norm.inputs[0] = add.inputs[0];
  if (uses > 1) norm.outputs.push_back(add.outputs[0]);
}

}  // namespace

absl::Status LowerToFusedNorm(ir::Graph& graph, const PassContext&) {
  const ir::Uses uses(graph);
  std::vector<bool> gone(graph.nodes.size(), false);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!IsNormOfRows(graph, graph.nodes[i])) continue;
    Node& norm = graph.nodes[i];
    const Node* add = AddBefore(graph, uses, i);
    Lower(norm);
    if (add == nullptr) continue;
    TakeAdd(norm, *add, uses.count(add->outputs[0]));
    gone[static_cast<std::size_t>(add - graph.nodes.data())] = true;
  }
  std::vector<Node> kept;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) kept.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(kept);
  return absl::OkStatus();
}

}  // namespace poprt::passes
