#include "compiler/ipu/memory/shard_operators.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "compiler/ipu/cost/ipu_link.hpp"
#include "compiler/ipu/memory/codelet_bytes.hpp"
#include "compiler/ipu/memory/liveness.hpp"
#include "compiler/ipu/memory/plan_memory.hpp"
#include "compiler/ipu/memory/program_bytes.hpp"
#include "compiler/ipu/memory/stored_tensors.hpp"
#include "compiler/ipu/plan/ipu_exchanges.hpp"

namespace poprt::ipu {
namespace {

constexpr std::uint64_t kFixedBytes = kStackBytes + kFixedControlCodeBytes +
                                      kFixedHostExchangeCodeBytes + kFixedVertexCodeBytes +
                                      kFixedInternalExchangeCodeBytes;
constexpr std::uint64_t kNoLimit = static_cast<std::uint64_t>(-1) / 2;

/// Parts of a tile's memory, in percent, that the estimate of a stage may fill, tried in turn until
/// the memory plan agrees.
constexpr int kPercents[] = {100, 97, 94, 90, 85, 80, 74, 67, 60, 50, 40};

/// What a stage may take.
struct Bound {
  std::uint64_t cycles = 0;
  std::uint64_t bytes = 0;
};

/// First operators of the stages.
using Cuts = std::vector<std::size_t>;

/// Finds cuts of one graph. Memory is estimated as the sum of what the operators of a stage need on
/// their fullest tile.
class StageFinder {
 public:
  StageFinder(const Target& target, const Platform& platform, const TileSpace& space,
              std::uint32_t stages, const GraphPlan& graph)
      : graph_(graph), stages_(stages), end_(graph.operators.size() - 1) {
    const GraphLiveness liveness = FindLiveness(graph, space);
    for (const LivenessPoint& point : liveness.points) live_.push_back(point.fullest_tile);
    std::vector<std::uint64_t> crossing(graph.operators.size() + 1, 0);
    for (const StoredTensor& stored : StoredTensorsOf(graph)) {
      const TensorPlan& tensor = graph.tensors[stored.tensor];
      if (tensor.always_live()) continue;
      for (std::size_t i = stored.first + 1; i <= std::min(stored.last, end_); ++i) {
        crossing[i] += tensor.bytes;
      }
    }
    const std::uint64_t sync = IpuSyncCycles(target, platform, stages);
    for (std::size_t i = 0; i <= end_; ++i) {
      receive_.push_back(sync + IpuLinkCycles(target, platform, crossing[i]));
    }
  }

  /// The cuts whose slowest stage takes least, if stages of so many bytes can be found.
  std::optional<Cuts> Find(std::uint64_t bytes) const {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    for (std::size_t i = 1; i < end_; ++i) {
      const std::uint64_t cycles = graph_.operators[i].cycles();
      least = std::max(least, cycles);
      most += cycles + receive_[i];
    }
    std::optional<Cuts> best = CutsFor({most, bytes});
    if (!best) return std::nullopt;
    while (least < most) {
      const std::uint64_t middle = least + (most - least) / 2;
      if (std::optional<Cuts> cuts = CutsFor({middle, bytes})) {
        best = std::move(cuts);
        most = middle;
      } else {
        least = middle + 1;
      }
    }
    return best;
  }

 private:
  /// What a stage has so far.
  struct Stage {
    std::uint64_t cycles = 0;
    std::uint64_t kept = 0;  ///< bytes that are there all the time
    std::uint64_t live = 0;  ///< at the operator that needs most
    std::set<TensorIndex> weights = {};
    std::set<std::size_t> called = {};
    std::set<std::string_view> codelets = {};

    std::uint64_t bytes() const { return kFixedBytes + kept + live; }
  };

  /// As few stages as the bound allows, each as long as it may be; nothing if they are too many.
  std::optional<Cuts> CutsFor(const Bound& bound) const {
    Cuts cuts;
    Stage stage;
    for (std::size_t i = 1; i < end_; ++i) {
      if (!cuts.empty()) {
        Append(i, stage);
        if (stage.cycles <= bound.cycles && stage.bytes() <= bound.bytes) continue;
      }
      if (cuts.size() == stages_) return std::nullopt;
      stage = {};
      stage.cycles = cuts.empty() ? 0 : receive_[i];
      cuts.push_back(i);
      Append(i, stage);
      const bool fits = stage.bytes() <= bound.bytes;
      if (!fits || graph_.operators[i].cycles() > bound.cycles) return std::nullopt;
    }
    return cuts;
  }

  void Append(std::size_t i, Stage& stage) const {
    const OperatorPlan& op = graph_.operators[i];
    stage.cycles += op.cycles();
    stage.live = std::max(stage.live, live_[i]);
    for (const TensorIndex t : op.inputs) {
      const TensorIndex storage = StorageOf(graph_, t);
      const TensorPlan& tensor = graph_.tensors[storage];
      if (tensor.always_live() && stage.weights.insert(storage).second) {
        stage.kept += tensor.mapping.bytes_per_tile;
      }
    }
    if (!stage.called.insert(op.outlined.value_or(i)).second) return;
    for (const Superstep& step : op.steps) {
      stage.kept += step.vertex_state_bytes + step.exchange_code_bytes + step.control_code_bytes;
      if (!step.vertex.empty() && stage.codelets.insert(step.vertex).second) {
        stage.kept += CodeletBytes(step.vertex);
      }
    }
  }

  const GraphPlan& graph_;
  std::uint32_t stages_;
  std::size_t end_;                     ///< the operator that stores outputs
  std::vector<std::uint64_t> live_;     ///< of every operator, on the fullest tile
  std::vector<std::uint64_t> receive_;  ///< cycles, if a stage begins at the operator
};

/// Splits the stages with most operators until there are as many as wanted or none can be split.
void AddStages(std::size_t end, std::uint32_t stages, Cuts& cuts) {
  while (cuts.size() < stages) {
    std::size_t longest = 0;
    std::size_t at = 0;
    for (std::size_t s = 0; s < cuts.size(); ++s) {
      const std::size_t length = (s + 1 < cuts.size() ? cuts[s + 1] : end) - cuts[s];
      if (length > longest) {
        longest = length;
        at = s;
      }
    }
    if (longest < 2) return;
    cuts.insert(cuts.begin() + static_cast<std::ptrdiff_t>(at) + 1, cuts[at] + longest / 2);
  }
}

GraphPlan Sharded(const Target& target, const Platform& platform, const GraphPlan& graph,
                  const Cuts& cuts) {
  GraphPlan sharded = graph;
  std::size_t next = 1;
  for (std::size_t i = 1; i + 1 < sharded.operators.size(); ++i) {
    if (next < cuts.size() && cuts[next] == i) ++next;
    sharded.operators[i].ipu = sharded.operators[i].stage = static_cast<std::uint32_t>(next - 1);
  }
  AddIpuExchanges(target, platform, sharded);
  return sharded;
}

}  // namespace

void ShardOperators(const Target& target, const Platform& platform, const TilePartition& partition,
                    const PlanOptions& options, std::uint32_t stages,
                    std::vector<GraphPlan>& graphs) {
  const TileSpace space = TilesOf(graphs, partition, {});
  std::vector<StageFinder> finders;
  for (const GraphPlan& graph : graphs) {
    finders.emplace_back(target, platform, space, stages, graph);
  }
  /// Nothing if the estimate of a stage exceeds `bytes`.
  const auto shard = [&](std::uint64_t bytes) -> std::optional<std::vector<GraphPlan>> {
    std::vector<GraphPlan> sharded;
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      std::optional<Cuts> cuts = finders[g].Find(bytes);
      if (!cuts) return std::nullopt;
      AddStages(graphs[g].operators.size() - 1, stages, *cuts);
      sharded.push_back(Sharded(target, platform, graphs[g], *cuts));
    }
    return sharded;
  };
  for (const int percent : kPercents) {
    auto sharded = shard(target.sram_bytes_per_tile / 100 * static_cast<std::uint64_t>(percent));
    if (!sharded) break;
    if (!PlanMemory(*sharded, target, partition, options).overflowing.empty()) continue;
    graphs = *std::move(sharded);
    return;
  }
  if (auto sharded = shard(kNoLimit)) graphs = *std::move(sharded);
}

std::string MissingMemory(const Plan& plan) {
  const std::uint32_t tiles = plan.partition.io_tiles + plan.partition.compute_tiles;
  std::map<std::uint32_t, std::uint64_t> lacking;
  for (const std::uint32_t t : plan.memory.overflowing) {
    const TileMemory& tile = plan.memory.tiles[t];
    const auto beyond = [](std::uint64_t needed, std::uint64_t there) {
      return needed > there ? needed - there : 0;
    };
    std::uint64_t& most = lacking[t / tiles];
    most = std::max({most, beyond(NeededBytes(tile), plan.target.sram_bytes_per_tile),
                     beyond(ExecutableBytes(tile), plan.target.executable_bytes)});
  }
  std::string text;
  for (const auto& [ipu, bytes] : lacking) {
    absl::StrAppendFormat(&text, "%sIPU %d lacks %d bytes on a tile", text.empty() ? "" : ", ", ipu,
                          bytes);
  }
  return text;
}

std::string StageTable(const Plan& plan) {
  struct Row {
    std::uint32_t ipu = 0;
    std::size_t operators = 0;
    std::uint64_t cycles = 0;
  };
  const std::size_t tiles = plan.partition.io_tiles + plan.partition.compute_tiles;
  std::string text;
  for (const GraphPlan& graph : plan.graphs) {
    std::map<std::uint32_t, Row> rows;
    for (const OperatorPlan& op : graph.operators) {
      if (op.op == "HostLoad" || op.op == "HostStore") continue;
      Row& row = rows[op.stage];
      row.ipu = op.ipu;
      ++row.operators;
      row.cycles += op.cycles();
    }
    absl::StrAppendFormat(&text, "%-5s %3s %9s %13s %16s   (%s)\n", "stage", "IPU", "operators",
                          "cycles", "fullest tile, B", graph.name);
    for (const auto& [stage, row] : rows) {
      std::uint64_t fullest = 0;
      for (std::size_t t = row.ipu * tiles; t < (row.ipu + 1) * tiles; ++t) {
        if (t < plan.memory.tiles.size()) {
          fullest = std::max(fullest, NeededBytes(plan.memory.tiles[t]));
        }
      }
      absl::StrAppendFormat(&text, "%5d %3d %9d %13d %16d\n", stage, row.ipu, row.operators,
                            row.cycles, fullest);
    }
  }
  return text;
}

}  // namespace poprt::ipu
