#include <algorithm>
#include <chrono>
#include <exception>

#include "compiler/ir/control_flow.hpp"
#include "passes/pass.hpp"

namespace poprt::passes {
namespace {

/// Elements are never written in place, so equal addresses mean equal constants.
bool SameValue(const ir::Value& a, const ir::Value& b) {
  if (a.name != b.name || a.type != b.type || a.is_constant() != b.is_constant()) return false;
  return !a.is_constant() || a.constant->data() == b.constant->data();
}

bool SameGraph(const ir::Graph& a, const ir::Graph& b);

bool SameNode(const ir::Node& a, const ir::Node& b) {
  return a.name == b.name && a.op == b.op && a.inputs == b.inputs && a.outputs == b.outputs &&
         a.attributes == b.attributes && std::ranges::equal(a.regions, b.regions, SameGraph);
}

bool SameGraph(const ir::Graph& a, const ir::Graph& b) {
  return a.inputs == b.inputs && a.outputs == b.outputs && a.output_names == b.output_names &&
         std::ranges::equal(a.nodes, b.nodes, SameNode) &&
         std::ranges::equal(a.values(), b.values(), SameValue);
}

absl::Status RunGuarded(const PassDef& pass, ir::Graph& graph, const PassContext& context) {
  try {
    return pass.run(graph, context);
  } catch (const std::exception& error) {
    return absl::InternalError("pass '" + std::string(pass.name) + "' on model '" + graph.name +
                               "': " + error.what());
  }
}

/// On all regions below the graph, innermost first.
absl::Status RunOnRegions(const PassDef& pass, ir::Graph& graph, const PassContext& context) {
  for (ir::Node& node : graph.nodes) {
    for (std::size_t i = 0; i < node.regions.size(); ++i) {
      ir::Graph& region = node.regions[i];
      absl::Status status = RunOnRegions(pass, region, context);
      if (status.ok()) status = RunGuarded(pass, region, context);
      if (status.ok()) continue;
      return absl::Status(status.code(), "in " + ir::DescribeRegion(node, i) + ": " +
                                             std::string(status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<PassRecord>> RunPasses(
    ir::Graph& graph, std::span<const PassDef* const> pipeline, const PassContext& context,
    const std::function<void(const PassRecord&)>& progress) {
  using Clock = std::chrono::steady_clock;
  std::vector<PassRecord> records;
  PassContext inside = context;
  inside.in_region = true;
  for (const PassDef* pass : pipeline) {
    const ir::Graph before = graph;
    const Clock::time_point start = Clock::now();
    absl::Status status;
    if (pass->regions == Regions::kToo) status = RunOnRegions(*pass, graph, inside);
    if (status.ok()) status = RunGuarded(*pass, graph, context);
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    if (!status.ok()) return status;
    if (const auto problem = ir::Verify(graph)) {
      return absl::InternalError("pass '" + std::string(pass->name) +
                                 "' left a broken graph: " + *problem);
    }
    records.push_back({.name = std::string(pass->name),
                       .seconds = elapsed.count(),
                       .changed = !SameGraph(before, graph),
                       .nodes_after = graph.nodes.size()});
    if (progress) progress(records.back());
  }
  return records;
}

}  // namespace poprt::passes
