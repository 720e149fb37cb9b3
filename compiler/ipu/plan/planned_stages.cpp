#include "compiler/ipu/plan/planned_stages.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/ir/placement.hpp"

namespace poprt::ipu {
namespace {

using Stage = std::optional<std::uint32_t>;

bool IsTransfer(const OperatorPlan& op) {
  for (const std::string_view name : {"HostLoad", "HostStore", "IpuSend", "IpuReceive"}) {
    if (op.op == name) return true;
  }
  return false;
}

Stage Earlier(const Stage& a, const Stage& b) { return a && b ? std::min(a, b) : a ? a : b; }

}  // namespace

void SetPlannedStages(const GraphPlan& plan, ir::Graph& graph) {
  ir::RemovePlacements(graph);
  std::map<std::string_view, std::uint32_t> makers;  // stages, by the name of the value
  Stage first;
  bool is_pipeline = false;
  for (const OperatorPlan& op : plan.operators) {
    if (IsTransfer(op)) continue;
    if (!first) first = op.stage;
    is_pipeline |= op.stage != *first;
    for (const TensorIndex t : op.outputs) makers[plan.tensors[t].name] = op.stage;
  }
  if (!is_pipeline) return;
  std::vector<Stage> readers(graph.values().size());  // the first stage that reads each value
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    Stage stage;
    Stage read;
    for (const ir::ValueId id : node->outputs) {
      if (id == ir::kAbsent) continue;
      const auto maker = makers.find(graph.value(id).name);
      if (maker != makers.end()) stage = maker->second;
      read = Earlier(read, readers[static_cast<std::size_t>(id)]);
    }
    if (!stage) stage = read;
    ir::SetPlacement(node->attributes, {.stage = stage});
    for (const ir::ValueId id : node->inputs) {
      if (id == ir::kAbsent) continue;
      Stage& reader = readers[static_cast<std::size_t>(id)];
      reader = Earlier(reader, stage);
    }
  }
}

}  // namespace poprt::ipu
