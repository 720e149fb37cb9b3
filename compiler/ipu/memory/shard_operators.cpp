#include "compiler/ipu/memory/shard_operators.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

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

/// What a stage has of one operator.
struct OperatorNeeds {
  /// A tensor that another operator made, or read before this one did.
  struct Operand {
    TensorIndex tensor = 0;
    std::size_t home = 0;  ///< operator that makes it, or the first to read an input of the model
    std::uint64_t bytes = 0;
  };
  /// Something that a stage has once, and its bytes on the tile that has most of it.
  struct Part {
    std::size_t number = 0;
    std::uint64_t bytes = 0;
  };

  std::uint64_t cycles = 0;
  std::uint64_t live = 0;  ///< not always live, on the fullest tile
  std::vector<Operand> operands = {};
  std::vector<Part> weights = {};
  std::vector<Part> codelets = {};
  Part code = {};  ///< of the operator that it calls
};

/// Finds the best cuts of one graph. Memory is estimated as the sum of what the operators of a
/// stage need on their fullest tile.
class StageFinder {
 public:
  StageFinder(const Target& target, const Platform& platform, const TileSpace& space,
              std::uint32_t stages, const GraphPlan& graph)
      : target_(target),
        platform_(platform),
        tensors_(graph.tensors.size()),
        end_(graph.operators.size() - 1),
        stages_(std::min<std::size_t>(stages, std::max<std::size_t>(end_, 1) - 1)),
        sync_cycles_(IpuSyncCycles(target, platform, static_cast<std::uint32_t>(stages_))) {
    const GraphLiveness liveness = FindLiveness(graph, space);
    std::map<TensorIndex, std::size_t> homes;
    std::map<std::string_view, std::size_t> codelets;
    needs_.resize(graph.operators.size());
    for (std::size_t i = 1; i < end_; ++i) {
      const OperatorPlan& op = graph.operators[i];
      needs_[i].cycles = op.cycles();
      needs_[i].live = liveness.points[i].fullest_tile;
      needs_[i].code.number = op.outlined.value_or(i);
      AddOperands(graph, i, homes);
      for (const Superstep& step : op.steps) {
        needs_[i].code.bytes +=
            step.vertex_state_bytes + step.exchange_code_bytes + step.control_code_bytes;
        if (step.vertex.empty()) continue;
        const std::size_t codelet = codelets.emplace(step.vertex, codelets.size()).first->second;
        needs_[i].codelets.push_back({codelet, CodeletBytes(step.vertex)});
      }
    }
    codelets_ = codelets.size();
  }

  /// The cuts whose slowest stage takes least, of those the ones whose fullest stage needs least;
  /// nothing if no stages of at most so many bytes can be found.
  std::optional<Cuts> Find(std::uint64_t bytes) const {
    if (stages_ == 0) return Cuts{};
    const std::optional<std::uint64_t> fastest = LeastCycles(bytes);
    if (!fastest) return std::nullopt;
    return Solve({*fastest, bytes}, &Stage::bytes).cuts;
  }

 private:
  /// What a stage has so far.
  struct Stage {
    std::uint64_t cycles = 0;
    std::uint64_t bytes = 0;
  };

  struct Solution {
    std::uint64_t cost = kNoLimit;  ///< of the stage that costs most
    Cuts cuts = {};
  };

  /// Of the slowest stage. Looks among short stages first, of which there are few.
  std::optional<std::uint64_t> LeastCycles(std::uint64_t bytes) const {
    std::uint64_t all = 0;
    std::uint64_t most = 0;  // nothing takes longer
    for (const OperatorNeeds& needs : needs_) {
      all += needs.cycles;
      most += needs.cycles;
      for (const OperatorNeeds::Operand& operand : needs.operands) {
        most += sync_cycles_ + IpuLinkCycles(target_, platform_, operand.bytes);
      }
    }
    for (std::uint64_t cycles = all / stages_ + 1;; cycles *= 2) {
      const Solution solution = Solve({cycles, bytes}, &Stage::cycles);
      if (solution.cost < kNoLimit) return solution.cost;
      if (cycles > most) return std::nullopt;
    }
  }

  void AddOperands(const GraphPlan& graph, std::size_t i,
                   std::map<TensorIndex, std::size_t>& homes) {
    const OperatorPlan& op = graph.operators[i];
    for (const TensorIndex t : op.inputs) {
      const TensorIndex storage = StorageOf(graph, t);
      const TensorPlan& stored = graph.tensors[storage];
      if (stored.always_live()) {
        needs_[i].weights.push_back({storage, stored.mapping.bytes_per_tile});
      }
      const bool moves = !graph.tensors[t].always_live();
      const std::size_t home = homes.emplace(t, i).first->second;
      if (moves && home < i) needs_[i].operands.push_back({t, home, graph.tensors[t].bytes});
    }
    for (const TensorIndex t : op.outputs) homes[t] = i;
  }

  /// Grows a stage operator by operator.
  class Growth {
   public:
    Growth(const StageFinder& finder, std::size_t first)
        : finder_(finder),
          first_(first),
          received_(finder.tensors_),
          weights_(finder.tensors_),
          codelets_(finder.codelets_),
          code_(finder.needs_.size()) {}

    Stage stage() const { return {cycles_, kFixedBytes + kept_ + live_}; }

    void Append(std::size_t i) {
      const OperatorNeeds& needs = finder_.needs_[i];
      cycles_ += needs.cycles + ReceiveCycles(needs);
      live_ = std::max(live_, needs.live);
      for (const OperatorNeeds::Part& weight : needs.weights) Keep(weight, weights_);
      if (code_[needs.code.number]) return;
      Keep(needs.code, code_);
      for (const OperatorNeeds::Part& codelet : needs.codelets) Keep(codelet, codelets_);
    }

   private:
    /// As AddIpuExchanges has it: one exchange before the first operator that needs it.
    std::uint64_t ReceiveCycles(const OperatorNeeds& needs) {
      std::uint64_t bytes = 0;
      bool any = false;
      for (const OperatorNeeds::Operand& operand : needs.operands) {
        if (operand.home >= first_ || received_[operand.tensor]) continue;
        received_[operand.tensor] = any = true;
        bytes += operand.bytes;
      }
      if (!any) return 0;
      return finder_.sync_cycles_ + IpuLinkCycles(finder_.target_, finder_.platform_, bytes);
    }

    void Keep(const OperatorNeeds::Part& part, std::vector<bool>& have) {
      if (have[part.number]) return;
      have[part.number] = true;
      kept_ += part.bytes;
    }

    const StageFinder& finder_;
    std::size_t first_;
    std::vector<bool> received_;  ///< by tensor
    std::vector<bool> weights_;
    std::vector<bool> codelets_;
    std::vector<bool> code_;  ///< by operator
    std::uint64_t cycles_ = 0;
    std::uint64_t kept_ = 0;  ///< bytes that are there all the time
    std::uint64_t live_ = 0;  ///< at the operator that needs most
  };

  /// By dynamic programming over the first operators of stages: `best[k][i]` is what the dearest of
  /// k stages with the operators before i costs. Stages only get dearer as they grow.
  Solution Solve(const Bound& bound, std::uint64_t Stage::*cost) const {
    std::vector<std::vector<std::uint64_t>> best(stages_ + 1,
                                                 std::vector<std::uint64_t>(end_ + 1, kNoLimit));
    std::vector<Cuts> from(stages_ + 1, Cuts(end_ + 1, 0));
    best[0][1] = 0;
    for (std::size_t first = 1; first < end_; ++first) {
      Growth growth(*this, first);
      for (std::size_t i = first; i < end_; ++i) {
        growth.Append(i);
        const Stage stage = growth.stage();
        if (stage.cycles > bound.cycles || stage.bytes > bound.bytes) break;
        for (std::size_t k = 0; k < stages_; ++k) {
          const std::uint64_t dearest = std::max(best[k][first], stage.*cost);
          if (dearest >= best[k + 1][i + 1]) continue;
          best[k + 1][i + 1] = dearest;
          from[k + 1][i + 1] = first;
        }
      }
    }
    Solution solution{.cost = best[stages_][end_], .cuts = Cuts(stages_)};
    std::size_t next = end_;
    for (std::size_t k = stages_; k > 0 && solution.cost < kNoLimit; --k) {
      solution.cuts[k - 1] = next = from[k][next];
    }
    return solution;
  }

  const Target& target_;
  const Platform& platform_;
  std::size_t tensors_;
  std::size_t codelets_ = 0;
  std::size_t end_;     ///< the operator that stores outputs
  std::size_t stages_;  ///< not more than operators
  std::uint64_t sync_cycles_;
  std::vector<OperatorNeeds> needs_;
};

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
  finders.reserve(graphs.size());
  for (const GraphPlan& graph : graphs) {
    finders.emplace_back(target, platform, space, stages, graph);
  }
  /// Nothing if the estimate of a stage exceeds `bytes`.
  const auto shard = [&](std::uint64_t bytes) -> std::optional<std::vector<GraphPlan>> {
    std::vector<GraphPlan> sharded;
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      std::optional<Cuts> cuts = finders[g].Find(bytes);
      if (!cuts) return std::nullopt;
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
