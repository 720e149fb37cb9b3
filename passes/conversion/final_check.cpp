#include "passes/conversion/final_check.hpp"

#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/op.hpp"

namespace poprt::passes {
namespace {

/// What is wrong with a node, empty if nothing.
std::string ProblemOf(const ir::Graph& graph, const ir::Node& node) {
  const ops::OpDef* op = ops::FindOp(node.op);
  if (op == nullptr || !node.regions.empty()) return {};
  std::vector<TensorType> inputs;
  for (ir::ValueId id : node.inputs) {
    inputs.push_back(id == ir::kAbsent ? TensorType{} : graph.type(id));
  }
  const auto types = ops::InferTypes(*op, {.op = node.op,
                                           .inputs = std::move(inputs),
                                           .attributes = node.attributes,
                                           .outputs = node.outputs.size()});
  if (!types.ok()) return std::string(types.status().message());
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const ir::ValueId id = node.outputs[i];
    if (id == ir::kAbsent || graph.type(id) == (*types)[i]) continue;
    return "output " + std::to_string(i) + " '" + graph.value(id).name + "' is " +
           ToString(graph.type(id)) + ", its operator gives " + ToString((*types)[i]);
  }
  return {};
}

}  // namespace

absl::Status FinalCheck(ir::Graph& graph, const PassContext&) {
  std::string problems;
  for (const ir::Node& node : graph.nodes) {
    const std::string problem = ProblemOf(graph, node);
    if (problem.empty()) continue;
    problems += "\n  node '" + node.name + "' (" + node.op + "): " + problem;
  }
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("model '" + graph.name +
                                    "': nodes that do not fit their operator:" + problems);
}

}  // namespace poprt::passes
