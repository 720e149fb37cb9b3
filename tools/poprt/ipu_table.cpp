#include "tools/poprt/ipu_table.hpp"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/ipu/memory/shard_operators.hpp"
#include "tools/poprt/text_table.hpp"

namespace poprt::cli {
namespace {

constexpr double kMillisecondsPerSecond = 1e3;

std::string Milliseconds(double seconds) {
  return absl::StrFormat("%.3f ms", seconds * kMillisecondsPerSecond);
}

}  // namespace

std::string IpuTable(const ipu::Plan& plan) {
  std::vector<std::vector<std::string>> rows = {
      {"on the IPU", "cycles", "batch", "latency", "samples/s"}};
  for (std::size_t i = 0; i < plan.graphs.size(); ++i) {
    const ipu::Performance& performance = plan.performance[i];
    rows.push_back({plan.graphs[i].name, absl::StrCat(performance.compute_cycles),
                    Milliseconds(performance.overlap_seconds),
                    Milliseconds(performance.latency_seconds),
                    absl::StrFormat("%.0f", performance.throughput)});
  }
  const std::uint64_t fullest = plan.memory.fullest_tile();
  std::string text = TextTable(rows, 1);
  absl::StrAppend(&text, "predicted for ", plan.target.ipu_version, " on ", plan.platform.name,
                  ": ", plan.partition.io_tiles, " I/O and ", plan.partition.compute_tiles,
                  " compute tiles, fullest tile ", BytesText(fullest), " of ",
                  BytesText(plan.target.sram_bytes_per_tile), "\n");
  if (!plan.partition_reason.empty()) absl::StrAppend(&text, plan.partition_reason, "\n");
  if (plan.options.num_ipus > 1) absl::StrAppend(&text, ipu::StageTable(plan));
  return text;
}

}  // namespace poprt::cli
