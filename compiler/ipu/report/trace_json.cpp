#include "compiler/ipu/report/trace_json.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/ipu/report/json_text.hpp"
#include "compiler/ipu/report/plan_figures.hpp"
#include "compiler/ipu/report/timeline.hpp"

namespace poprt::ipu {
namespace {

/// Numbers of the tracks of a process: the host, I/O tiles, then the compute tiles of each IPU.
constexpr std::uint32_t kHostTrack = 1;
constexpr std::uint32_t kIoTrack = 2;
constexpr std::uint32_t kFirstComputeTrack = 3;

double Microseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

/// The events of one graph.
class GraphTrace {
 public:
  GraphTrace(const Plan& plan, std::size_t graph)
      : plan_(plan), graph_(plan.graphs[graph]), index_(graph) {
    if (graph < plan.memory.liveness.size()) liveness_ = &plan.memory.liveness[graph];
  }

  /// Appends the names of tracks to `metadata` and what happens on them to `events`.
  void Write(Json& metadata, std::vector<Json>& events) {
    WriteNames(metadata);
    for (const Span& span : Timeline(plan_, index_)) {
      WriteSpan(span, events);
    }
  }

 private:
  void WriteName(Json& metadata, std::string_view what, std::uint32_t track,
                 const std::string& name) const {
    metadata.push_back({{"name", what},
                        {"ph", "M"},
                        {"pid", index_ + 1},
                        {"tid", track},
                        {"args", {{"name", name}}}});
  }

  void WriteNames(Json& metadata) const {
    WriteName(metadata, "process_name", 0, graph_.name);
    WriteName(metadata, "thread_name", kHostTrack, "host");
    if (plan_.partition.io_tiles > 0) {
      WriteName(metadata, "thread_name", kIoTrack,
                absl::StrCat("I/O tiles (", plan_.partition.io_tiles, ")"));
    }
    std::set<std::uint32_t> ipus{0};
    for (const OperatorPlan& op : graph_.operators) ipus.insert(op.ipu);
    for (const std::uint32_t ipu : ipus) {
      const std::string of_ipu = ipus.size() > 1 ? absl::StrCat(" of IPU ", ipu) : "";
      WriteName(metadata, "thread_name", kFirstComputeTrack + ipu,
                absl::StrCat("compute tiles", of_ipu, " (", plan_.partition.compute_tiles, ")"));
    }
  }

  void WriteEvent(std::string_view name, std::string_view category, std::uint32_t track,
                  std::uint64_t begin, std::uint64_t end, Json args,
                  std::vector<Json>& events) const {
    events.push_back({{"name", name},
                      {"cat", category},
                      {"ph", "X"},
                      {"ts", Microseconds(begin)},
                      {"dur", Microseconds(end - begin)},
                      {"pid", index_ + 1},
                      {"tid", track},
                      {"args", std::move(args)}});
  }

  void WriteSpan(const Span& span, std::vector<Json>& events) const {
    if (span.activity == Activity::kCompute) {
      WriteOperators(span, events);
      return;
    }
    const std::uint32_t track = span.track == Track::kHost      ? kHostTrack
                                : span.track == Track::kIoTiles ? kIoTrack
                                                                : kFirstComputeTrack;
    Json args = {{"batch", span.batch}};
    if (span.activity == Activity::kLoad) args["bytes"] = graph_.input_bytes;
    if (span.activity == Activity::kStore) args["bytes"] = graph_.output_bytes;
    WriteEvent(absl::StrCat(std::string(ActivityName(span.activity)), " batch ", span.batch),
               ActivityName(span.activity), track, span.begin, span.end, std::move(args), events);
  }

  /// The batch, its operators and their steps. Times come from the cycles since the start of the
  /// batch, so that rounding never makes a step leave its operator.
  void WriteOperators(const Span& span, std::vector<Json>& events) const {
    std::set<std::uint32_t> ipus;
    for (const OperatorPlan& op : graph_.operators) ipus.insert(op.ipu);
    for (const std::uint32_t ipu : ipus) {
      WriteEvent(absl::StrCat("batch ", span.batch), "batch", kFirstComputeTrack + ipu, span.begin,
                 span.end, {{"batch", span.batch}, {"samples", graph_.samples}}, events);
    }
    std::uint64_t cycles = 0;
    for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
      WriteLiveMemory(span.begin + Nanoseconds(plan_.platform, cycles), i, events);
      cycles = WriteOperator(graph_.operators[i], span, cycles, events);
    }
    WriteCounter(span.end, {}, events);
  }

  /// `cycles` since the start of the batch; returns those at the end of the operator.
  std::uint64_t WriteOperator(const OperatorPlan& op, const Span& span, std::uint64_t cycles,
                              std::vector<Json>& events) const {
    const std::uint32_t track = kFirstComputeTrack + op.ipu;
    const std::size_t own = events.size();
    const std::uint64_t start = cycles;
    for (const Superstep& step : op.steps) {
      if (!IsComputePhase(step.phase) || step.cycles * step.repeats == 0) continue;
      const std::uint64_t begin = At(span, cycles);
      cycles += step.cycles * step.repeats;
      WriteEvent(step.name, PhaseName(step.phase), track, begin, At(span, cycles), StepArgs(step),
                 events);
    }
    if (cycles == start) return cycles;
    Json args = {{"op", op.op}, {"cycles", cycles - start}, {"flops", op.flops}};
    if (!op.grid.empty()) args["grid"] = op.grid;
    if (op.outlined.has_value()) args["code_of"] = graph_.operators.at(*op.outlined).name;
    WriteEvent(op.name, "operator", track, At(span, start), At(span, cycles), std::move(args),
               events);
    // The operator begins with its first step: viewers need the outer event first.
    std::rotate(events.begin() + static_cast<std::ptrdiff_t>(own), events.end() - 1, events.end());
    return cycles;
  }

  static bool IsComputePhase(Phase phase) {
    return phase == Phase::kCompute || phase == Phase::kExchange || phase == Phase::kCopy;
  }

  std::uint64_t At(const Span& span, std::uint64_t cycles) const {
    return std::min(span.begin + Nanoseconds(plan_.platform, cycles), span.end);
  }

  static Json StepArgs(const Superstep& step) {
    Json args = {{"cycles", step.cycles}, {"repeats", step.repeats}, {"tiles", step.tiles.count}};
    if (!step.vertex.empty()) args["vertex"] = step.vertex;
    if (step.bytes > 0) args["bytes"] = step.bytes;
    return args;
  }

  void WriteLiveMemory(std::uint64_t at, std::size_t op, std::vector<Json>& events) const {
    if (liveness_ != nullptr && op < liveness_->size()) WriteCounter(at, (*liveness_)[op], events);
  }

  void WriteCounter(std::uint64_t at, const LivenessPoint& live, std::vector<Json>& events) const {
    for (const auto& [name, bytes] : {std::pair("live memory", live.bytes),
                                      std::pair("live memory, fullest tile", live.fullest_tile)}) {
      events.push_back({{"name", name},
                        {"ph", "C"},
                        {"ts", Microseconds(at)},
                        {"pid", index_ + 1},
                        {"args", {{"bytes", bytes}}}});
    }
  }

  const Plan& plan_;
  const GraphPlan& graph_;
  std::size_t index_;
  const std::vector<LivenessPoint>* liveness_ = nullptr;
};

}  // namespace

std::string TraceJson(const Plan& plan) {
  Json events = Json::array();
  std::vector<Json> timed;
  for (std::size_t i = 0; i < plan.graphs.size(); ++i) GraphTrace(plan, i).Write(events, timed);
  // Stable: an outer event stays before an inner one that begins with it.
  std::stable_sort(timed.begin(), timed.end(), [](const Json& a, const Json& b) {
    return a["ts"].get<double>() < b["ts"].get<double>();
  });
  for (Json& event : timed) events.push_back(std::move(event));

  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  const char* separator = "\n";
  for (const Json& event : events) {
    absl::StrAppend(&text, separator, JsonText(event));
    separator = ",\n";
  }
  return text + "\n]}\n";
}

}  // namespace poprt::ipu
