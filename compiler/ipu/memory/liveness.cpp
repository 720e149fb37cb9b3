#include "compiler/ipu/memory/liveness.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "compiler/ipu/memory/stored_tensors.hpp"

namespace poprt::ipu {
namespace {

/// Goes through the operators and knows what is live.
class LivenessBuilder {
 public:
  LivenessBuilder(const GraphPlan& graph, const TileSpace& space)
      : graph_(graph),
        space_(space),
        live_(space),
        temporaries_(space.size(), 0),
        begins_(graph.operators.size()),
        ends_(graph.operators.size()),
        stored_(StoredTensorsOf(graph)) {
    result_.peak.resize(space.size(), 0);
    result_.peak_operator.resize(space.size(), 0);
    for (const StoredTensor& stored : stored_) {
      const TensorPlan& tensor = graph.tensors[stored.tensor];
      if (tensor.always_live()) continue;
      if (IsHostBuffer(tensor, space.io_tiles)) {
        AddEverywhere(stored, 1);
      } else if (stored.last < begins_.size()) {
        begins_[stored.first].push_back(&stored);
        ends_[stored.last].push_back(&stored);
      }
    }
  }

  GraphLiveness Build() && {
    result_.points.reserve(graph_.operators.size());
    for (std::uint32_t i = 0; i < graph_.operators.size(); ++i) {
      for (const StoredTensor* stored : begins_[i]) AddEverywhere(*stored, 1);
      FindTemporaries(graph_.operators[i]);
      TakePoint(i);
      for (const StoredTensor* stored : ends_[i]) AddEverywhere(*stored, -1);
    }
    return std::move(result_);
  }

 private:
  void AddEverywhere(const StoredTensor& stored, std::int64_t times) {
    for (const std::uint32_t ipu : stored.ipus) {
      live_.AddTensor(ipu, graph_.tensors[stored.tensor], times);
    }
  }

  void FindTemporaries(const OperatorPlan& op) {
    if (has_temporaries_) std::fill(temporaries_.begin(), temporaries_.end(), 0);
    has_temporaries_ = false;
    if (op.ipu >= space_.ipus) return;
    const std::span<std::uint64_t> tiles(
        temporaries_.data() + std::size_t{op.ipu} * space_.tiles_per_ipu, space_.tiles_per_ipu);
    for (const auto& [range, most] : LargestByTiles(op)) {
      if (range.first >= tiles.size()) continue;
      has_temporaries_ = true;
      const std::size_t count = std::min<std::size_t>(range.second, tiles.size() - range.first);
      for (std::uint64_t& bytes : tiles.subspan(range.first, count)) bytes = std::max(bytes, most);
    }
  }

  /// Largest temporaries of the steps that run on the same tiles: first and number of them.
  static std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> LargestByTiles(
      const OperatorPlan& op) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> largest;
    for (const Superstep& step : op.steps) {
      if (step.temporary_bytes == 0) continue;
      std::uint64_t& bytes = largest[{step.tiles.first, step.tiles.count}];
      bytes = std::max(bytes, step.temporary_bytes);
    }
    return largest;
  }

  void TakePoint(std::uint32_t op) {
    LivenessPoint& point = result_.points.emplace_back();
    std::uint64_t live = 0;
    for (std::size_t t = 0; t < temporaries_.size(); ++t) {
      live += live_.steps()[t];
      const std::uint64_t bytes = live + temporaries_[t];
      point.bytes += bytes;
      point.fullest_tile = std::max(point.fullest_tile, bytes);
      if (bytes <= result_.peak[t]) continue;
      result_.peak[t] = bytes;
      result_.peak_operator[t] = op;
    }
  }

  const GraphPlan& graph_;
  const TileSpace& space_;
  TileSums live_;
  std::vector<std::uint64_t> temporaries_;  // of the operator, on every tile
  bool has_temporaries_ = false;
  // For every operator:
  std::vector<std::vector<const StoredTensor*>> begins_;
  std::vector<std::vector<const StoredTensor*>> ends_;
  std::vector<StoredTensor> stored_;
  GraphLiveness result_;
};

}  // namespace

GraphLiveness FindLiveness(const GraphPlan& graph, const TileSpace& space) {
  return LivenessBuilder(graph, space).Build();
}

}  // namespace poprt::ipu
