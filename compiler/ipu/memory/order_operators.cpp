#include "compiler/ipu/memory/order_operators.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "compiler/ipu/memory/liveness.hpp"
#include "compiler/ipu/memory/stored_tensors.hpp"
#include "compiler/ipu/plan/lifetimes.hpp"
#include "compiler/ir/list_schedule.hpp"

namespace poprt::ipu {
namespace {

using OperatorIndex = std::uint32_t;

bool HasPhase(const OperatorPlan& op, Phase phase) {
  return std::any_of(op.steps.begin(), op.steps.end(),
                     [phase](const Superstep& step) { return step.phase == phase; });
}

/// Transfers from the host come first, those to the host last, whatever the stages are.
std::uint32_t RankOf(const OperatorPlan& op) {
  if (HasPhase(op, Phase::kHostLoad)) return 0;
  if (HasPhase(op, Phase::kHostStore)) return std::numeric_limits<std::uint32_t>::max();
  return std::min(op.stage, std::numeric_limits<std::uint32_t>::max() - 2) + 1;
}

void SortUnique(std::vector<std::uint32_t>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

/// What each operator waits for. Whoever writes a storage again (in place) comes after all that
/// used it before.
class SourceFinder {
 public:
  explicit SourceFinder(const GraphPlan& graph)
      : graph_(graph), writer_(graph.tensors.size()), users_(graph.tensors.size()) {}

  std::vector<std::vector<OperatorIndex>> Find() && {
    std::vector<std::vector<OperatorIndex>> sources(graph_.operators.size());
    for (OperatorIndex i = 0; i < graph_.operators.size(); ++i) {
      const OperatorPlan& op = graph_.operators[i];
      for (const TensorIndex t : op.inputs) {
        const TensorIndex storage = StorageOf(graph_, t);
        if (writer_[storage]) sources[i].push_back(*writer_[storage]);
      }
      for (const TensorIndex t : op.outputs) {
        const TensorIndex storage = StorageOf(graph_, t);
        if (writer_[storage]) sources[i].push_back(*writer_[storage]);
        std::vector<OperatorIndex>& users = users_[storage];
        sources[i].insert(sources[i].end(), users.begin(), users.end());
        users.clear();
        writer_[storage] = i;
      }
      for (const TensorIndex t : op.inputs) users_[StorageOf(graph_, t)].push_back(i);
      SortUnique(sources[i]);
      std::erase(sources[i], i);
    }
    return sources;
  }

 private:
  const GraphPlan& graph_;
  // For every storage:
  std::vector<std::optional<OperatorIndex>> writer_;
  std::vector<std::vector<OperatorIndex>> users_;  // since it was written
};

ir::ListScheduleProblem ProblemOf(const GraphPlan& graph) {
  const std::size_t tensors = graph.tensors.size();
  ir::ListScheduleProblem problem{.sources = SourceFinder(graph).Find(),
                                  .storages = {},
                                  .stages = {},
                                  .bytes = std::vector<std::int64_t>(tensors, 0),
                                  .is_live = std::vector<bool>(tensors, true),
                                  .other_users = std::vector<std::size_t>(tensors, 0)};
  for (TensorIndex t = 0; t < tensors; ++t) {
    const TensorPlan& tensor = graph.tensors[t];
    if (StorageOf(graph, t) == t && !tensor.always_live()) {
      problem.bytes[t] = static_cast<std::int64_t>(tensor.bytes);
    }
    if (tensor.kind == TensorKind::kOutput) ++problem.other_users[StorageOf(graph, t)];
  }
  for (const OperatorPlan& op : graph.operators) {
    problem.stages.push_back(RankOf(op));
    std::vector<std::uint32_t>& storages = problem.storages.emplace_back();
    for (const TensorIndex t : op.inputs) storages.push_back(StorageOf(graph, t));
    for (const TensorIndex t : op.outputs) {
      storages.push_back(StorageOf(graph, t));
      if (graph.tensors[storages.back()].kind != TensorKind::kInput) {
        problem.is_live[storages.back()] = false;
      }
    }
    SortUnique(storages);
  }
  return problem;
}

GraphPlan Reordered(const GraphPlan& graph, const std::vector<OperatorIndex>& order) {
  std::vector<OperatorIndex> place(order.size());
  for (OperatorIndex i = 0; i < order.size(); ++i) place[order[i]] = i;
  GraphPlan result = graph;
  for (OperatorIndex i = 0; i < order.size(); ++i) {
    OperatorPlan& op = result.operators[i];
    op = graph.operators[order[i]];
    if (op.outlined) op.outlined = place[*op.outlined];
  }
  for (TensorPlan& tensor : result.tensors) {
    const OperatorIndex first = place[std::min(tensor.first, order.size() - 1)];
    const OperatorIndex last = place[std::min(tensor.last, order.size() - 1)];
    tensor.first = std::min(first, last);
    tensor.last = std::max(first, last);
  }
  FindLifetimes(result);
  return result;
}

/// The tiles that a graph names, none of them special.
TileSpace TilesUsed(const GraphPlan& graph) {
  std::uint32_t count = 0;
  const auto use = [&count](const TileRange& tiles) {
    count = std::max(count, tiles.first + tiles.count);
  };
  for (const TensorPlan& tensor : graph.tensors) use(tensor.mapping.tiles);
  for (const OperatorPlan& op : graph.operators) {
    for (const Superstep& step : op.steps) use(step.tiles);
  }
  return TilesOf({&graph, 1}, {.io_tiles = 0, .compute_tiles = count}, {});
}

/// Bytes of the fullest tile and of all together, at the operators where they are greatest.
std::pair<std::uint64_t, std::uint64_t> PeakOf(const GraphPlan& graph) {
  const GraphLiveness liveness = FindLiveness(graph, TilesUsed(graph));
  std::pair<std::uint64_t, std::uint64_t> peak = {0, 0};
  for (const LivenessPoint& point : liveness.points) {
    peak.first = std::max(peak.first, point.fullest_tile);
    peak.second = std::max(peak.second, point.bytes);
  }
  return peak;
}

}  // namespace

void OrderOperators(GraphPlan& graph) {
  if (graph.operators.empty()) return;
  GraphPlan ordered = Reordered(graph, ir::ListSchedule(ProblemOf(graph)));
  if (PeakOf(ordered) < PeakOf(graph)) graph = std::move(ordered);
}

}  // namespace poprt::ipu
