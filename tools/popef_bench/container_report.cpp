#include "tools/popef_bench/container_report.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "tools/display/escape.hpp"
#include "tools/display/table.hpp"

namespace poprt::bench {
namespace {

using display::Side;
using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;
using Moment = std::pair<const char*, const MemoryUse*>;

std::string Milliseconds(double value) { return fmt::format("{:.3f}", value); }

std::array<Moment, 4> Moments(const ContainerReport& report) {
  return {{{"start", &report.start},
           {"loaded", &report.loaded},
           {"first_run", &report.first_run},
           {"steady", &report.steady}}};
}

std::string GraphTable(const ContainerReport& report, const BenchOptions& options) {
  Rows rows;
  for (const GraphReport& graph : report.graphs) {
    rows.push_back(
        {graph.graph.empty() ? "-" : display::Escape(graph.graph), Milliseconds(graph.first_run),
         Milliseconds(graph.latency.Min()), Milliseconds(graph.latency.Percentile(50)),
         Milliseconds(graph.latency.Percentile(90)), Milliseconds(graph.latency.Percentile(99)),
         std::to_string(graph.latency.latencies.size()),
         fmt::format("{:.1f}", graph.requests_per_second)});
  }
  return fmt::format("Latency (ms) of one client, throughput of {}:\n", options.clients) +
         display::TableText({{"graph"},
                             {"first run", Side::kRight},
                             {"min", Side::kRight},
                             {"p50", Side::kRight},
                             {"p90", Side::kRight},
                             {"p99", Side::kRight},
                             {"runs", Side::kRight},
                             {"requests/s", Side::kRight}},
                            rows, "  ");
}

std::string SwitchingTable(const ContainerReport& report) {
  const std::optional<double> ratio = report.SwitchingRatio();
  if (!ratio) return "";
  Rows rows;
  for (const GraphReport& graph : report.graphs) {
    rows.push_back({display::Escape(graph.graph), Milliseconds(graph.repeated),
                    Milliseconds(graph.alternating),
                    fmt::format("{:.3f}", graph.alternating / graph.repeated)});
  }
  rows.push_back({"all", "", "", fmt::format("{:.3f}", *ratio)});
  return "\nSwitching (ms, medians):\n" + display::TableText({{"graph"},
                                                              {"A,A,...", Side::kRight},
                                                              {"A,B,...", Side::kRight},
                                                              {"ratio", Side::kRight}},
                                                             rows, "  ");
}

std::string MemoryTable(const ContainerReport& report) {
  const auto mib = [](std::uint64_t bytes) {
    return fmt::format("{:.1f}", static_cast<double>(bytes) / (1 << 20));
  };
  Rows rows;
  for (const auto& [moment, use] : Moments(report)) {
    rows.push_back({moment, mib(use->resident), mib(use->proportional), mib(use->anonymous),
                    mib(use->container), mib(use->container_proportional),
                    mib(use->other_files())});
  }
  return "\nMemory (MiB):\n" + display::TableText({{"when"},
                                                   {"resident", Side::kRight},
                                                   {"proportional", Side::kRight},
                                                   {"anonymous", Side::kRight},
                                                   {"container", Side::kRight},
                                                   {"its share", Side::kRight},
                                                   {"other files", Side::kRight}},
                                                  rows, "  ");
}

std::string PredictionTable(const ContainerReport& report) {
  if (report.predictions.empty()) return "";
  Rows rows;
  for (const Prediction& prediction : report.predictions) {
    rows.push_back({display::Escape(prediction.graph), std::to_string(prediction.cycles),
                    Milliseconds(prediction.batch), Milliseconds(prediction.latency),
                    fmt::format("{:.0f}", prediction.samples_per_second)});
  }
  return fmt::format("\nPredicted for the IPU (ms), not measured, on {}:\n",
                     display::Escape(report.predictions.front().platform)) +
         display::TableText({{"graph"},
                             {"cycles", Side::kRight},
                             {"batch", Side::kRight},
                             {"latency", Side::kRight},
                             {"samples/s", Side::kRight}},
                            rows, "  ");
}

Json PredictionJson(const Prediction& prediction) {
  return {
      {"graph", prediction.graph},        {"platform", prediction.platform},
      {"cycles", prediction.cycles},      {"batch_ms", prediction.batch},
      {"latency_ms", prediction.latency}, {"samples_per_second", prediction.samples_per_second}};
}

Json GraphJson(const GraphReport& graph, int clients, bool switching) {
  Json json{{"graph", graph.graph},
            {"first_run_ms", graph.first_run},
            {"runs", graph.latency.latencies.size()},
            {"latency_ms",
             {{"min", graph.latency.Min()},
              {"average", graph.latency.Average()},
              {"p50", graph.latency.Percentile(50)},
              {"p90", graph.latency.Percentile(90)},
              {"p99", graph.latency.Percentile(99)}}},
            {"requests_per_second", clients > 0 ? Json(graph.requests_per_second) : Json()}};
  if (switching) {
    json["repeated_ms"] = graph.repeated;
    json["alternating_ms"] = graph.alternating;
  }
  return json;
}

Json MemoryJson(const MemoryUse& use) {
  return {{"resident", use.resident},
          {"proportional", use.proportional},
          {"anonymous", use.anonymous},
          {"container", use.container},
          {"container_proportional", use.container_proportional},
          {"other_files", use.other_files()}};
}

}  // namespace

std::string ReportText(const ContainerReport& report, const BenchOptions& options) {
  return fmt::format(
             "{}: {} threads, {}\n\n"
             "Load: {:.3f} ms; again: map {:.3f}, verify {:.3f}, bind {:.3f} ms\n\n",
             display::Escape(options.popef), report.threads, report.instruction_set, report.load,
             report.parts.map, report.parts.verify, report.parts.bind) +
         GraphTable(report, options) + SwitchingTable(report) + MemoryTable(report) +
         PredictionTable(report);
}

Json ReportJson(const ContainerReport& report, const BenchOptions& options) {
  const std::optional<double> ratio = report.SwitchingRatio();
  Json json{{"status", "ok"},
            {"popef", options.popef},
            {"threads", report.threads},
            {"instruction_set", report.instruction_set},
            {"clients", options.clients},
            {"seed", options.seed},
            {"load_ms",
             {{"first", report.load},
              {"map", report.parts.map},
              {"verify", report.parts.verify},
              {"bind", report.parts.bind}}},
            {"graphs", Json::array()}};
  for (const GraphReport& graph : report.graphs) {
    json["graphs"].push_back(GraphJson(graph, options.clients, ratio.has_value()));
  }
  if (ratio) json["switching_ratio"] = *ratio;
  for (const auto& [moment, use] : Moments(report)) {
    json["memory_bytes"][moment] = MemoryJson(*use);
  }
  json["predicted_for_ipu"] = Json::array();
  for (const Prediction& prediction : report.predictions) {
    json["predicted_for_ipu"].push_back(PredictionJson(prediction));
  }
  return json;
}

}  // namespace poprt::bench
