#include "compiler/ipu/report/plan_figures.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/ipu/memory/performance.hpp"

namespace poprt::ipu {
namespace {

/// Calls `visit` with every step whose code and vertices are the operator's own.
template <typename Visit>
void ForOwnSteps(const std::vector<GraphPlan>& graphs, const Visit& visit) {
  for (const GraphPlan& graph : graphs) {
    for (const OperatorPlan& op : graph.operators) {
      if (op.outlined.has_value()) continue;
      for (const Superstep& step : op.steps) visit(step);
    }
  }
}

}  // namespace

std::string_view PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kCompute:
      return "compute";
    case Phase::kExchange:
      return "exchange";
    case Phase::kCopy:
      return "copy";
    case Phase::kHostLoad:
      return "host load";
    case Phase::kHostStore:
      return "host store";
    case Phase::kIoToCompute:
      return "I/O to compute";
    case Phase::kComputeToIo:
      return "compute to I/O";
  }
  return "";
}

std::string_view MemoryCategoryName(MemoryCategory category) {
  switch (category) {
    case MemoryCategory::kVariablesAlwaysLive:
      return "variables_always_live";
    case MemoryCategory::kVariablesNotAlwaysLive:
      return "variables_not_always_live";
    case MemoryCategory::kConstants:
      return "constants";
    case MemoryCategory::kVertexCode:
      return "vertex_code";
    case MemoryCategory::kVertexState:
      return "vertex_state";
    case MemoryCategory::kInternalExchangeCode:
      return "internal_exchange_code";
    case MemoryCategory::kHostExchangeCode:
      return "host_exchange_code";
    case MemoryCategory::kControlCode:
      return "control_code";
    case MemoryCategory::kStack:
      return "stack";
  }
  return "";
}

std::string_view TensorKindName(TensorKind kind) {
  switch (kind) {
    case TensorKind::kActivation:
      return "activation";
    case TensorKind::kInput:
      return "input";
    case TensorKind::kOutput:
      return "output";
    case TensorKind::kConstant:
      return "constant";
    case TensorKind::kVariable:
      return "variable";
  }
  return "";
}

bool OverlapsTransfers(const Plan& plan) {
  return plan.partition.io_tiles > 0 && plan.options.batches_per_step >= kPipelineDepth;
}

std::array<PhaseFigures, kPhases> PhasesOf(const GraphPlan& graph) {
  std::array<PhaseFigures, kPhases> phases = {};
  for (const OperatorPlan& op : graph.operators) {
    for (const Superstep& step : op.steps) {
      PhaseFigures& figures = phases.at(static_cast<std::size_t>(step.phase));
      figures.steps += step.repeats;
      figures.cycles += step.cycles * step.repeats;
      figures.tile_cycles += step.total_cycles * step.repeats;
      figures.bytes += step.bytes * step.repeats;
    }
  }
  return phases;
}

std::uint64_t Flops(const GraphPlan& graph) {
  std::uint64_t flops = 0;
  for (const OperatorPlan& op : graph.operators) flops += op.flops;
  return flops;
}

std::vector<VertexType> VertexTypesOf(const std::vector<GraphPlan>& graphs) {
  std::map<std::string, VertexType> by_name;
  for (const GraphPlan& graph : graphs) {
    for (const OperatorPlan& op : graph.operators) {
      for (const Superstep& step : op.steps) {
        if (step.vertex.empty()) continue;
        VertexType& type = by_name[step.vertex];
        type.name = step.vertex;
        type.cycles += step.total_cycles * step.repeats;
        if (op.outlined.has_value()) continue;
        type.instances += step.vertices;
        type.state_bytes += step.vertex_state_bytes * step.tiles.count;
      }
    }
  }
  std::vector<VertexType> types;
  for (auto& [name, type] : by_name) types.push_back(std::move(type));
  std::stable_sort(types.begin(), types.end(),
                   [](const VertexType& a, const VertexType& b) { return a.cycles > b.cycles; });
  return types;
}

Counts CountsOf(const std::vector<GraphPlan>& graphs) {
  Counts counts;
  ForOwnSteps(graphs, [&](const Superstep& step) {
    counts.vertices += step.vertices;
    counts.edges += step.edges;
    if (step.phase == Phase::kCompute || step.phase == Phase::kCopy) ++counts.compute_sets;
  });
  std::set<std::uint64_t> shared;
  for (const GraphPlan& graph : graphs) {
    for (const TensorPlan& tensor : graph.tensors) {
      if (tensor.storage.has_value()) continue;  // a view, or in place of another
      if (!tensor.shared.has_value() || shared.insert(*tensor.shared).second) ++counts.variables;
    }
  }
  return counts;
}

MemoryTotals MemoryTotalsOf(const MemoryPlan& memory) {
  MemoryTotals totals;
  for (std::size_t tile = 0; tile < memory.tiles.size(); ++tile) {
    for (std::size_t c = 0; c < kMemoryCategories; ++c) {
      totals.categories.at(c) += memory.tiles[tile].bytes[c];
    }
    const std::uint64_t bytes = memory.tiles[tile].total();
    totals.bytes += bytes;
    totals.gap_bytes += memory.tiles[tile].gap_bytes;
    if (bytes > totals.fullest_tile_bytes) {
      totals.fullest_tile = static_cast<std::uint32_t>(tile);
      totals.fullest_tile_bytes = bytes;
    }
  }
  return totals;
}

void MemoryRegions::Add(const MemoryRegions& other) {
  non_interleaved += other.non_interleaved;
  interleaved += other.interleaved;
  overflowed += other.overflowed;
}

MemoryRegions RegionsOf(const TileMemory& tile, const Target& target) {
  const std::uint64_t bytes = tile.total();
  const std::uint64_t held = std::min(bytes, target.sram_bytes_per_tile);
  const std::uint64_t low = std::min(held, target.executable_bytes);
  return {.non_interleaved = low, .interleaved = held - low, .overflowed = bytes - held};
}

}  // namespace poprt::ipu
