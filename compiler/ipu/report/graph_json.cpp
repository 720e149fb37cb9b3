#include "compiler/ipu/report/graph_json.hpp"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ipu/report/plan_figures.hpp"
#include "compiler/ipu/report/timeline.hpp"

namespace poprt::ipu {
namespace {

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json(nullptr);
}

/// What the plan holds for graph `index`, or nothing when that part was not made.
template <typename T>
T PartOf(const std::vector<T>& parts, std::size_t index) {
  return index < parts.size() ? parts[index] : T{};
}

Json Steps(const OperatorPlan& op) {
  Json table = EmptyTable({"phase", "name", "vertex", "first_tile", "tiles", "repeats", "cycles",
                           "total_cycles", "vertices", "edges", "bytes", "temporary_bytes",
                           "vertex_state_bytes", "exchange_code_bytes", "control_code_bytes"});
  for (const Superstep& step : op.steps) {
    table["rows"].push_back({PhaseName(step.phase), step.name, step.vertex, step.tiles.first,
                             step.tiles.count, step.repeats, step.cycles, step.total_cycles,
                             step.vertices, step.edges, step.bytes, step.temporary_bytes,
                             step.vertex_state_bytes, step.exchange_code_bytes,
                             step.control_code_bytes});
  }
  return table;
}

Json Expansion(const OperatorPlan& op) {
  return {{"op", op.op},
          {"flops", op.flops},
          {"grid", op.grid},
          {"cycles", op.cycles()},
          {"steps", Steps(op)}};
}

Json Layout(const TensorPlan& tensor) {
  return {
      TensorKindName(tensor.kind), ElementName(tensor.element_type), tensor.bytes,
      tensor.mapping.tiles.first,  tensor.mapping.tiles.count,       tensor.mapping.bytes_per_tile,
      tensor.mapping.grain_bytes};
}

Json PerformanceJson(const Performance& performance) {
  return {{"compute_cycles", performance.compute_cycles},
          {"io_copy_cycles", performance.io_copy_cycles},
          {"host_load_seconds", performance.host_load_seconds},
          {"host_store_seconds", performance.host_store_seconds},
          {"serial_seconds", performance.serial_seconds},
          {"overlap_seconds", performance.overlap_seconds},
          {"latency_seconds", performance.latency_seconds},
          {"throughput", performance.throughput}};
}

Json Phases(const GraphPlan& graph) {
  const std::array<PhaseFigures, kPhases> phases = PhasesOf(graph);
  Json table = EmptyTable({"phase", "steps", "cycles", "tile_cycles", "bytes"});
  for (std::size_t p = 0; p < kPhases; ++p) {
    const PhaseFigures& figures = phases.at(p);
    table["rows"].push_back({PhaseName(static_cast<Phase>(p)), figures.steps, figures.cycles,
                             figures.tile_cycles, figures.bytes});
  }
  return table;
}

Json TimelineJson(const std::vector<Span>& spans) {
  Json table = EmptyTable({"batch", "track", "activity", "begin_nanoseconds", "end_nanoseconds"});
  for (const Span& span : spans) {
    table["rows"].push_back(
        {span.batch, TrackName(span.track), ActivityName(span.activity), span.begin, span.end});
  }
  return table;
}

}  // namespace

std::size_t GraphJson::Entries::Add(Json entry) {
  const auto [found, added] = numbers.try_emplace(JsonText(entry), entries.size());
  if (added) entries.push_back(std::move(entry));
  return found->second;
}

Json GraphJson::Layouts() const {
  Json table = EmptyTable(
      {"kind", "element_type", "bytes", "first_tile", "tiles", "bytes_per_tile", "grain_bytes"});
  table["rows"] = layouts_.entries;
  return table;
}

Json GraphJson::Operators(std::size_t index) {
  const GraphPlan& graph = plan_.graphs[index];
  const std::vector<LivenessPoint> liveness = PartOf(plan_.memory.liveness, index);
  Json table = EmptyTable({"name", "expansion", "inputs", "outputs", "outlined", "ipu", "stage",
                           "live_bytes", "live_fullest_tile_bytes"});
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const OperatorPlan& op = graph.operators[i];
    const LivenessPoint live = PartOf(liveness, i);
    table["rows"].push_back({op.name, expansions_.Add(Expansion(op)), op.inputs, op.outputs,
                             OrNull(op.outlined), op.ipu, op.stage, live.bytes, live.fullest_tile});
  }
  return table;
}

Json GraphJson::Tensors(const GraphPlan& graph) {
  Json table =
      EmptyTable({"name", "layout", "first_operator", "last_operator", "shared", "storage"});
  for (const TensorPlan& tensor : graph.tensors) {
    table["rows"].push_back({tensor.name, layouts_.Add(Layout(tensor)), tensor.first, tensor.last,
                             OrNull(tensor.shared), OrNull(tensor.storage)});
  }
  return table;
}

Json GraphJson::Graph(std::size_t index) {
  const GraphPlan& graph = plan_.graphs[index];
  const Performance performance = PartOf(plan_.performance, index);
  return {{"name", graph.name},
          {"samples", graph.samples},
          {"flops", Flops(graph)},
          {"device_cycles", graph.cycles()},
          {"input_bytes", graph.input_bytes},
          {"output_bytes", graph.output_bytes},
          {"memory_bytes", PartOf(plan_.memory.graph_bytes, index)},
          {"notes", graph.notes},
          {"performance", PerformanceJson(performance)},
          {"phases", Phases(graph)},
          {"timeline", TimelineJson(Timeline(plan_, index))},
          {"operators", Operators(index)},
          {"tensors", Tensors(graph)}};
}

}  // namespace poprt::ipu
