#include "compiler/ipu/memory/performance.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

#include "compiler/ipu/cost/host_transfer.hpp"

namespace poprt::ipu {
namespace {

/// Cycles of a batch by where it spends them.
struct BatchCycles {
  std::uint64_t compute = 0;
  std::uint64_t slowest_ipu = 0;  ///< of `compute`, when IPUs work at the same time; else all
  std::uint64_t io_copy = 0;
  std::uint64_t load = 0;  ///< the tiles' side of stream copies
  std::uint64_t store = 0;
};

BatchCycles CyclesOf(const GraphPlan& graph) {
  BatchCycles batch;
  std::map<std::uint32_t, std::uint64_t> of_ipu;
  bool is_pipeline = false;
  for (const OperatorPlan& op : graph.operators) {
    is_pipeline |= op.stage != 0;
    for (const Superstep& step : op.steps) {
      const std::uint64_t cycles = step.cycles * step.repeats;
      switch (step.phase) {
        case Phase::kHostLoad:
          batch.load += cycles;
          break;
        case Phase::kHostStore:
          batch.store += cycles;
          break;
        case Phase::kIoToCompute:
        case Phase::kComputeToIo:
          batch.io_copy += cycles;
          break;
        default:
          batch.compute += cycles;
          of_ipu[op.ipu] += cycles;
      }
    }
  }
  batch.slowest_ipu = batch.compute;
  if (is_pipeline) {
    batch.slowest_ipu = 0;
    for (const auto& [ipu, cycles] : of_ipu)
      batch.slowest_ipu = std::max(batch.slowest_ipu, cycles);
  }
  return batch;
}

}  // namespace

Performance Predict(const GraphPlan& graph, const Target& target, const Platform& platform,
                    const TilePartition& partition, const PlanOptions& options) {
  const BatchCycles batch = CyclesOf(graph);
  const auto batches = static_cast<std::uint64_t>(options.batches_per_step);
  Performance performance{.compute_cycles = batch.compute, .io_copy_cycles = batch.io_copy};
  // A stream copy is as slow as the slower of host and tiles.
  performance.host_load_seconds =
      std::max(HostLoadSeconds(platform, graph.input_bytes), Seconds(platform, batch.load));
  performance.host_store_seconds =
      std::max(HostStoreSeconds(platform, graph.output_bytes), Seconds(platform, batch.store));
  const double transfer = performance.host_load_seconds + performance.host_store_seconds;
  const double compute = Seconds(platform, batch.slowest_ipu);
  const double copies = Seconds(platform, batch.io_copy);
  const double call = HostCallSeconds(platform, batches);

  performance.serial_seconds = compute + transfer + copies + call;
  performance.overlap_seconds = performance.serial_seconds;
  performance.latency_seconds =
      Seconds(platform, batch.compute) + transfer + copies + HostCallSeconds(platform, 1);
  double seconds = performance.serial_seconds;
  if (partition.io_tiles > 0 && options.batches_per_step >= kPipelineDepth) {
    const double sync = Seconds(platform, target.global_sync_cycles);
    performance.overlap_seconds = std::max(compute, transfer) + copies + sync + call;
    // The first load and the last store of a step have nothing beside them.
    seconds = performance.overlap_seconds + transfer / static_cast<double>(batches);
    performance.latency_seconds =
        Seconds(platform, batch.compute - batch.slowest_ipu) +
        static_cast<double>(kPipelineDepth) * (performance.overlap_seconds - call) +
        HostCallSeconds(platform, 1);
  }
  performance.throughput = seconds > 0 ? static_cast<double>(graph.samples) / seconds : 0;
  return performance;
}

}  // namespace poprt::ipu
