#include "passes/conversion/manual_sharding.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "compiler/ir/placement.hpp"
#include "passes/unknown_names.hpp"

namespace poprt::passes {
namespace {

/// Walks from nodes that the user lists towards the inputs.
class Sharder {
 public:
  explicit Sharder(ir::Graph& graph) : graph_(graph), uses_(graph), by_(graph.nodes.size()) {}

  /// Nodes that nobody has reached yet take the placement of `from`.
  void Walk(std::size_t node, const ShardingNode& from) {
    if (const ShardingNode* before = by_[node]; before != nullptr) {
      problems_.push_back(before->node == from.node
                              ? "node '" + from.node + "' stands there twice"
                              : "node '" + from.node + "' is needed for node '" + before->node +
                                    "', which is listed before it; list it first");
      return;
    }
    std::vector<std::size_t> open = {node};
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (by_[at] != nullptr) continue;
      by_[at] = &from;
      Place(at, {.ipu = from.device, .stage = from.stage});
      for (const ir::ValueId id : graph_.nodes[at].inputs) {
        if (id == ir::kAbsent || uses_.producer(id) < 0) continue;
        open.push_back(static_cast<std::size_t>(uses_.producer(id)));
      }
    }
  }

  void PlaceRest(const ir::Placement& placement) {
    for (std::size_t i = 0; i < by_.size(); ++i) {
      if (by_[i] == nullptr) Place(i, placement);
    }
  }

  const std::vector<std::string>& problems() const { return problems_; }

 private:
  void Place(std::size_t node, const ir::Placement& placement) {
    Attributes& attributes = graph_.nodes[node].attributes;
    attributes.erase(ir::kIpuNumber);
    attributes.erase(ir::kPipelineStage);
    ir::SetPlacement(attributes, placement);
  }

  ir::Graph& graph_;
  ir::Uses uses_;
  std::vector<const ShardingNode*> by_;  ///< from where every node was reached
  std::vector<std::string> problems_;
};

/// One beyond the highest of all.
ir::Placement AfterAll(const std::vector<ShardingNode>& nodes) {
  ir::Placement after{.ipu = 0};
  for (const ShardingNode& node : nodes) {
    after.ipu = std::max(*after.ipu, node.device + 1);
    if (node.stage) after.stage = std::max(after.stage.value_or(0), *node.stage + 1);
  }
  return after;
}

}  // namespace

absl::Status ManualSharding(ir::Graph& graph, const PassContext& context) {
  if (context.sharding.empty()) return absl::OkStatus();
  std::map<std::string, std::size_t> positions;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    positions[graph.nodes[i].name] = i;
    names.push_back(graph.nodes[i].name);
  }
  UnknownNames unknown(std::move(names));
  Sharder sharder(graph);
  for (const ShardingNode& node : context.sharding) {
    if (unknown.Check(node.node)) sharder.Walk(positions.at(node.node), node);
  }
  std::vector<std::string> problems = sharder.problems();
  const absl::Status status =
      unknown.ToStatus("model '" + graph.name + "' has no nodes named for sharding");
  if (!status.ok()) problems.insert(problems.begin(), std::string(status.message()));
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
  sharder.PlaceRest(AfterAll(context.sharding));
  return absl::OkStatus();
}

}  // namespace poprt::passes
