#include "compiler/ipu/report/summary_report.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/ipu/memory/performance.hpp"
#include "compiler/ipu/report/number_format.hpp"
#include "compiler/ipu/report/plan_figures.hpp"
#include "compiler/ipu/report/summary_memory.hpp"

namespace poprt::ipu {
namespace {

constexpr double kKilobyte = 1024;
constexpr double kMegabyte = 1024 * 1024;
constexpr double kMegahertz = 1e6;
constexpr double kMicrosecondsPerSecond = 1e6;

std::string Field(int indent, std::string_view label, int width, const std::string& value) {
  return absl::StrFormat("%s%-*s%s\n", std::string(static_cast<std::size_t>(indent), ' '), width,
                         absl::StrCat(std::string(label), ":"), value);
}

std::string Microseconds(double seconds) {
  return GroupedFixed(seconds * kMicrosecondsPerSecond, 1) + " microseconds";
}

double SecondsOf(const Platform& platform, double cycles) {
  return platform.clock_hz == 0 ? 0 : cycles / static_cast<double>(platform.clock_hz);
}

std::string TargetSection(const Plan& plan) {
  const Target& target = plan.target;
  const std::uint64_t tiles = std::uint64_t{target.tiles} * plan.options.num_ipus;
  const auto tile_bytes = static_cast<double>(target.sram_bytes_per_tile);
  const std::string all_memory =
      GroupedFixed(static_cast<double>(tiles) * tile_bytes / kMegabyte, 1) + " MB";
  const auto line = [](std::string_view label, const std::string& value) {
    return Field(2, label, 24, value);
  };
  return absl::StrCat(
      "Target:\n", line("Number of IPUs", Grouped(plan.options.num_ipus)),
      line("Tiles per IPU", Grouped(target.tiles)), line("Total Tiles", Grouped(tiles)),
      line("Memory Per-Tile", GroupedFixed(tile_bytes / kKilobyte, 1) + " kB"),
      line("Total Memory", all_memory),
      line("Clock Speed (approx)",
           GroupedFixed(static_cast<double>(plan.platform.clock_hz) / kMegahertz, 1) + " MHz"),
      line("Number of Replicas", "1"), line("IPUs per Replica", Grouped(plan.options.num_ipus)),
      line("Tiles per Replica", Grouped(tiles)), line("Memory per Replica", all_memory));
}

std::string GraphSection(const Plan& plan) {
  const Counts counts = CountsOf(plan.graphs);
  const auto line = [](std::string_view label, std::uint64_t count) {
    return absl::StrFormat("  %-24s%15s\n", absl::StrCat(std::string(label), ":"), Grouped(count));
  };
  return absl::StrCat("Graph:\n", line("Number of vertices", counts.vertices),
                      line("Number of edges", counts.edges),
                      line("Number of variables", counts.variables),
                      line("Number of compute sets", counts.compute_sets));
}

/// What the average tile does during one batch of every graph, in cycles.
struct TileAverages {
  double total = 0;
  double compute = 0;
  double exchange = 0;
  double host = 0;
};

TileAverages AveragesOf(const Plan& plan) {
  const double tiles =
      std::max(1.0, static_cast<double>(plan.target.tiles) * plan.options.num_ipus);
  const auto clock = static_cast<double>(plan.platform.clock_hz);
  TileAverages averages;
  for (const GraphPlan& graph : plan.graphs) {
    averages.total += static_cast<double>(graph.cycles());
    const std::array<PhaseFigures, kPhases> phases = PhasesOf(graph);
    const auto average = [&](Phase phase) {
      return static_cast<double>(phases[static_cast<std::size_t>(phase)].tile_cycles) / tiles;
    };
    averages.compute += average(Phase::kCompute) + average(Phase::kCopy);
    averages.exchange +=
        average(Phase::kExchange) + average(Phase::kIoToCompute) + average(Phase::kComputeToIo);
  }
  for (const Performance& performance : plan.performance) {
    averages.host += (performance.host_load_seconds + performance.host_store_seconds) * clock;
  }
  averages.total += averages.host;
  return averages;
}

std::string VertexCycles(const Plan& plan) {
  const std::vector<VertexType> types = VertexTypesOf(plan.graphs);
  std::size_t name_width = 0;
  std::size_t count_width = 0;
  for (const VertexType& type : types) {
    name_width = std::max(name_width, OneLine(type.name).size());
    count_width = std::max(count_width, std::to_string(type.instances).size());
  }
  std::string text = "  Cycles by vertex type:\n";
  for (const VertexType& type : types) {
    absl::StrAppendFormat(&text, "    %-*s %*s instances): %16s\n", static_cast<int>(name_width),
                          OneLine(type.name), static_cast<int>(count_width) + 1,
                          absl::StrCat("(", type.instances), Grouped(type.cycles));
  }
  return text;
}

std::string ExecutionSection(const Plan& plan) {
  const TileAverages averages = AveragesOf(plan);
  const auto line = [](std::string_view label, const std::string& value) {
    return Field(2, label, 56, value);
  };
  const auto average = [&](double cycles) {
    return absl::StrCat(GroupedFixed(cycles, 1), " (", Percent(cycles, averages.total),
                        " of total)");
  };
  const double waiting = averages.total - averages.compute - averages.exchange - averages.host;
  return absl::StrCat(
      "Execution:\n",
      line("Programs executed",
           absl::StrCat(Grouped(plan.graphs.size()), " (one batch of each graph)")),
      line("Total cycles",
           absl::StrCat(GroupedFixed(averages.total, 0), " (approx ",
                        Microseconds(SecondsOf(plan.platform, averages.total)), ")")),
      line("Tile average compute cycles (including idle threads)", average(averages.compute)),
      line("Tile average compute cycles (excluding idle threads)", "not modelled"),
      line("Tile average IPU exchange cycles", average(averages.exchange)),
      line("Tile average global exchange cycles", average(0)),
      line("Tile average host exchange cycles", average(averages.host)),
      line("Tile average sync cycles", average(waiting)), VertexCycles(plan));
}

/// A batch's share of the call that starts a step.
double CallSeconds(const Plan& plan) {
  const auto batches =
      static_cast<double>(std::max<std::int64_t>(plan.options.batches_per_step, 1));
  return static_cast<double>(plan.platform.call_nanoseconds) * 1e-9 / batches;
}

/// "2.0x": how many times faster it is to overlap.
std::string Gain(const Performance& performance) {
  if (!(performance.overlap_seconds > 0)) return "1.00x";
  return GroupedFixed(performance.serial_seconds / performance.overlap_seconds, 2) + "x";
}

std::string PerSecond(double samples, double seconds) {
  return GroupedFixed(seconds > 0 ? samples / seconds : 0, 1) + " samples/s";
}

/// Times of a batch with and without I/O tiles working beside the others.
std::string BatchTimes(const Plan& plan, const GraphPlan& graph, const Performance& performance) {
  const auto samples = static_cast<double>(graph.samples);
  const auto line = [](std::string_view label, const std::string& value) {
    return Field(4, label, 30, value);
  };
  std::string text =
      line("Without overlap", absl::StrCat(Microseconds(performance.serial_seconds), " per batch, ",
                                           PerSecond(samples, performance.serial_seconds)));
  if (!OverlapsTransfers(plan)) {
    return text + line("With overlap", absl::StrCat("needs I/O tiles and at least ", kPipelineDepth,
                                                    " batches per step"));
  }
  return text + line("With overlap",
                     absl::StrCat(Microseconds(performance.overlap_seconds), " per batch, ",
                                  PerSecond(samples, performance.overlap_seconds), ", ",
                                  Gain(performance)));
}

std::string GraphPerformance(const Plan& plan, const GraphPlan& graph,
                             const Performance& performance) {
  const std::uint64_t cycles = graph.cycles();
  const double seconds = SecondsOf(plan.platform, static_cast<double>(cycles));
  const double teraflops = seconds > 0 ? static_cast<double>(Flops(graph)) / seconds / 1e12 : 0;
  const auto line = [](std::string_view label, const std::string& value) {
    return Field(4, label, 30, value);
  };
  std::string text = absl::StrCat(
      "  ", OneLine(graph.name), ":\n", line("Samples per batch", Grouped(graph.samples)),
      line("Device cycles per batch",
           absl::StrCat(Grouped(cycles), " (approx ", Microseconds(seconds), ", ",
                        GroupedFixed(teraflops, 1), " TFLOP/s)")),
      line("Host traffic per batch", absl::StrCat(Grouped(graph.input_bytes), " B in, ",
                                                  Grouped(graph.output_bytes), " B out")),
      line("Host time per batch",
           absl::StrCat(Microseconds(performance.host_load_seconds), " in, ",
                        Microseconds(performance.host_store_seconds), " out")),
      line("Host call per batch", Microseconds(CallSeconds(plan))),
      line("Copies to and from I/O tiles", Grouped(performance.io_copy_cycles) + " cycles"),
      BatchTimes(plan, graph, performance),
      line("Latency", Microseconds(performance.latency_seconds)),
      line("Throughput", GroupedFixed(performance.throughput, 1) + " samples/s"));
  for (const std::string& note : graph.notes) text += line("Note", OneLine(note));
  return text;
}

std::string PerformanceSection(const Plan& plan) {
  std::string text = absl::StrCat(
      "Predicted performance:\n",
      Field(2, "Platform", 14,
            absl::StrCat(plan.platform.name, ", ",
                         GroupedFixed(static_cast<double>(plan.platform.clock_hz) / kMegahertz, 1),
                         " MHz")),
      Field(2, "Step", 14,
            Grouped(static_cast<std::uint64_t>(plan.options.batches_per_step)) + " batch(es)"));
  const std::size_t graphs = std::min(plan.graphs.size(), plan.performance.size());
  for (std::size_t i = 0; i < graphs; ++i) {
    text += GraphPerformance(plan, plan.graphs[i], plan.performance[i]);
  }
  return text;
}

std::string FusedSection(const Plan& plan) {
  const MemoryPlan& memory = plan.memory;
  const auto bytes = static_cast<double>(MemoryTotalsOf(memory).bytes);
  double cycles = 0;
  for (const GraphPlan& graph : plan.graphs) cycles += static_cast<double>(graph.cycles());
  std::string text = "Fused graphs:\n";
  for (std::size_t i = 0; i < std::min(plan.graphs.size(), memory.graph_bytes.size()); ++i) {
    const auto own_bytes = static_cast<double>(memory.graph_bytes[i]);
    const auto own_cycles = static_cast<double>(plan.graphs[i].cycles());
    absl::StrAppend(&text, "  ", OneLine(plan.graphs[i].name), ": ", Grouped(memory.graph_bytes[i]),
                    " B alone (", Percent(own_bytes, bytes), " of the program), ",
                    Grouped(plan.graphs[i].cycles()), " cycles (", Percent(own_cycles, cycles),
                    " of one batch of each)\n");
  }
  const std::uint64_t saved =
      memory.shared_weight_bytes + memory.shared_activation_bytes + memory.shared_code_bytes;
  return absl::StrCat(text, "  Saved by sharing: ", Grouped(saved), " B (weights ",
                      Grouped(memory.shared_weight_bytes), " B, activations ",
                      Grouped(memory.shared_activation_bytes), " B, code ",
                      Grouped(memory.shared_code_bytes), " B)\n");
}

std::string TileSpan(std::uint32_t first, std::uint32_t count) {
  return absl::StrCat(Grouped(first), " to ", Grouped(first + count - 1), " (", Grouped(count),
                      " tiles)");
}

std::string PartitionSection(const Plan& plan) {
  const TilePartition& partition = plan.partition;
  std::string text = "Tiles of an IPU:\n";
  if (partition.io_tiles > 0) text += Field(2, "I/O", 10, TileSpan(0, partition.io_tiles));
  if (partition.compute_tiles > 0) {
    text += Field(2, "Compute", 10, TileSpan(partition.io_tiles, partition.compute_tiles));
  }
  if (plan.partition_reason.empty()) return text;
  text += "  Why:\n";
  for (std::size_t begin = 0; begin < plan.partition_reason.size();) {
    const std::size_t end =
        std::min(plan.partition_reason.find('\n', begin), plan.partition_reason.size());
    absl::StrAppend(&text, "    ", OneLine(plan.partition_reason.substr(begin, end - begin)), "\n");
    begin = end + 1;
  }
  return text;
}

}  // namespace

std::string SummaryReport(const Plan& plan) {
  std::string text =
      absl::StrCat(TargetSection(plan), "\n", GraphSection(plan), "\n", MemorySummary(plan), "\n",
                   ExecutionSection(plan), "\n", PerformanceSection(plan));
  if (plan.graphs.size() > 1) absl::StrAppend(&text, "\n", FusedSection(plan));
  return absl::StrCat(text, "\n", PartitionSection(plan));
}

}  // namespace poprt::ipu
