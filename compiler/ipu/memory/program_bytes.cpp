#include "compiler/ipu/memory/program_bytes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "compiler/ipu/memory/codelet_bytes.hpp"
#include "compiler/ipu/memory/stored_tensors.hpp"

namespace poprt::ipu {
namespace {

class ProgramBytesBuilder {
 public:
  explicit ProgramBytesBuilder(const TileSpace& space)
      : space_(space),
        constants_(space),
        variables_(space),
        vertex_code_(space),
        vertex_state_(space),
        internal_exchange_code_(space),
        host_exchange_code_(space),
        control_code_(space) {
    for (std::uint32_t ipu = 0; ipu < space.ipus; ++ipu) AddFixed(ipu);
  }

  void AddGraph(const GraphPlan& graph) {
    AddWeights(graph);
    exchanges_.clear();
    std::set<std::pair<std::size_t, std::uint32_t>> called;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
      const OperatorPlan& op = graph.operators[i];
      const bool is_first = called.emplace(op.outlined.value_or(i), op.ipu).second;
      for (const Superstep& step : op.steps) {
        if (is_first || step.at_call) AddStep(op.ipu, step);
      }
    }
  }

  ProgramBytes Build() && {
    for (auto& [codelet, ranges] : codelets_) AddCodelet(codelet.first, codelet.second, ranges);
    return {.constants = constants_.Sums(),
            .variables = variables_.Sums(),
            .vertex_code = vertex_code_.Sums(),
            .vertex_state = vertex_state_.Sums(),
            .internal_exchange_code = internal_exchange_code_.Sums(),
            .host_exchange_code = host_exchange_code_.Sums(),
            .control_code = control_code_.Sums()};
  }

 private:
  void AddFixed(std::uint32_t ipu) {
    const TileRange all{0, space_.tiles_per_ipu};
    vertex_code_.Add(ipu, all, kFixedVertexCodeBytes);
    internal_exchange_code_.Add(ipu, all, kFixedInternalExchangeCodeBytes);
    host_exchange_code_.Add(ipu, all, kFixedHostExchangeCodeBytes);
    control_code_.Add(ipu, all, kFixedControlCodeBytes);
  }

  void AddWeights(const GraphPlan& graph) {
    for (const StoredTensor& stored : StoredTensorsOf(graph)) {
      const TensorPlan& tensor = graph.tensors[stored.tensor];
      if (!tensor.always_live()) continue;
      TileSums& sums = tensor.kind == TensorKind::kConstant ? constants_ : variables_;
      for (const std::uint32_t ipu : stored.ipus) {
        const bool is_new = !tensor.shared || weights_.emplace(*tensor.shared, ipu).second;
        if (is_new) sums.AddTensor(ipu, tensor, 1);
      }
    }
  }

  void AddStep(std::uint32_t ipu, const Superstep& step) {
    const bool is_host = step.phase == Phase::kHostLoad || step.phase == Phase::kHostStore;
    vertex_state_.Add(ipu, step.tiles, step.vertex_state_bytes);
    if (step.reads_weights || exchanges_.emplace(ipu, step).second) {
      (is_host ? host_exchange_code_ : internal_exchange_code_)
          .Add(ipu, step.tiles, step.exchange_code_bytes);
    }
    control_code_.Add(ipu, step.tiles, step.control_code_bytes);
    if (!step.vertex.empty()) codelets_[{step.vertex, ipu}].push_back(step.tiles);
  }

  /// Adds the codelet to every tile that is in one of the ranges.
  void AddCodelet(std::string_view vertex, std::uint32_t ipu, std::vector<TileRange>& ranges) {
    std::sort(ranges.begin(), ranges.end(),
              [](const TileRange& a, const TileRange& b) { return a.first < b.first; });
    const std::uint64_t bytes = CodeletBytes(vertex);
    std::uint32_t end = 0;  // of the tiles that have it
    for (const TileRange& range : ranges) {
      const std::uint32_t first = std::max(range.first, end);
      const std::uint32_t range_end = range.first + range.count;
      if (range_end <= first) continue;
      vertex_code_.Add(ipu, {first, range_end - first}, bytes);
      end = range_end;
    }
  }

  /// What makes exchanges equal.
  struct Exchange {
    Exchange(std::uint32_t on_ipu, const Superstep& step)
        : ipu(on_ipu),
          phase(step.phase),
          name(step.name),
          first(step.tiles.first),
          count(step.tiles.count),
          bytes(step.bytes),
          code(step.exchange_code_bytes) {}

    std::uint32_t ipu;
    Phase phase;
    std::string_view name;
    std::uint32_t first;
    std::uint32_t count;
    std::uint64_t bytes;
    std::uint64_t code;
    auto operator<=>(const Exchange&) const = default;
  };

  const TileSpace& space_;
  std::set<Exchange> exchanges_;  // of the graph
  TileSums constants_;
  TileSums variables_;
  TileSums vertex_code_;
  TileSums vertex_state_;
  TileSums internal_exchange_code_;
  TileSums host_exchange_code_;
  TileSums control_code_;
  std::set<std::pair<std::uint64_t, std::uint32_t>> weights_;  // number of the weight, IPU
  std::map<std::pair<std::string_view, std::uint32_t>, std::vector<TileRange>> codelets_;
};

}  // namespace

ProgramBytes FindProgramBytes(const std::vector<const GraphPlan*>& graphs, const TileSpace& space) {
  ProgramBytesBuilder builder(space);
  for (const GraphPlan* graph : graphs) builder.AddGraph(*graph);
  return std::move(builder).Build();
}

}  // namespace poprt::ipu
