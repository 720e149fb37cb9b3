#include "compiler/driver/ipu_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/ipu/memory/choose_io_tiles.hpp"
#include "compiler/ipu/memory/order_operators.hpp"
#include "compiler/ipu/memory/out_of_memory.hpp"
#include "compiler/ipu/memory/performance.hpp"
#include "compiler/ipu/memory/plan_memory.hpp"
#include "compiler/ipu/memory/shard_operators.hpp"
#include "compiler/ipu/plan/ipu_exchanges.hpp"
#include "compiler/ipu/plan/place_nodes.hpp"
#include "compiler/ipu/plan/plan_graph.hpp"
#include "compiler/ir/placement.hpp"
#include "passes/pass.hpp"

namespace poprt::driver {
namespace {

using compiler::CompilerOptions;
using ipu::GraphPlan;

constexpr const char* kDefaultIpuVersion = "ipu2";
constexpr std::int64_t kMostBatchesPerStep = 1'000'000;

ipu::PlanOptions PlanOptionsOf(const CompilerOptions& options) {
  return {.half_partials = options.partialsType == "half",
          .available_memory_proportion = options.availableMemoryProportion,
          .use_128bit_conv_unit_load = options.use128bitConvUnitLoad,
          .enable_fast_reduce = options.enableFastReduce,
          .enable_multi_stage_reduce = options.enableMultiStageReduce,
          .enable_non_stable_softmax = options.enableNonStableSoftmax,
          .enable_outlining = options.enableOutlining,
          .outline_threshold = options.outlineThreshold,
          .batches_per_step = options.batchesPerStep,
          .num_ipus = static_cast<std::uint32_t>(std::max(options.numIpus, options.autoSharding))};
}

absl::StatusOr<ipu::Target> TargetOf(const CompilerOptions& options) {
  if (options.targetConfig.empty()) {
    return ipu::FindTarget(options.ipuVersion.empty() ? kDefaultIpuVersion : options.ipuVersion);
  }
  if (!options.ipuVersion.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("ipu_version is '", options.ipuVersion,
                                                   "' and target_config is '", options.targetConfig,
                                                   "': give one of the two"));
  }
  return ipu::LoadTargetFile(options.targetConfig);
}

/// The graph with the patterns that the IPU has operators for.
absl::StatusOr<ir::Graph> WithPatterns(const ir::Graph& graph) {
  ir::Graph copy = graph;
  const auto pipeline = passes::BuildPipeline(passes::Stage::kIpuPlan, {});
  if (!pipeline.ok()) return pipeline.status();
  const auto records = passes::RunPasses(copy, *pipeline, {});
  if (!records.ok()) return records.status();
  return copy;
}

/// Numbers weights by their memory: fusion has given equal ones the same.
class WeightNumbers {
 public:
  void Assign(const ir::Graph& graph, GraphPlan& plan) {
    std::map<std::string, const std::byte*> memory;
    for (const ir::Value& value : graph.values()) {
      if (value.is_constant()) memory[value.name] = value.constant->data();
    }
    for (ipu::TensorPlan& tensor : plan.tensors) {
      const auto found = memory.find(tensor.name);
      if (!tensor.always_live() || found == memory.end()) continue;
      tensor.shared = numbers_.try_emplace(found->second, numbers_.size()).first->second;
    }
  }

 private:
  std::map<const std::byte*, std::uint64_t> numbers_;
};

absl::StatusOr<std::vector<GraphPlan>> PlanGraphs(const std::vector<ir::Graph>& graphs,
                                                  const ipu::Target& target,
                                                  const ipu::TilePartition& partition,
                                                  const ipu::PlanOptions& options) {
  std::vector<GraphPlan> plans;
  WeightNumbers numbers;
  for (const ir::Graph& graph : graphs) {
    auto plan = ipu::PlanGraph(graph, target, partition, options);
    if (!plan.ok()) return plan.status();
    numbers.Assign(graph, *plan);
    ipu::OrderOperators(*plan);
    plans.push_back(*std::move(plan));
  }
  return plans;
}

/// The problem of graphs that say where nodes run when the compiler is to find that; or empty.
std::string PlacedNodes(const ir::Graph& graph) {
  for (const ir::Node& node : graph.nodes) {
    if (ir::PlacementOf(node.attributes).empty()) continue;
    return absl::StrCat(graph.name, ": node '", node.name, "' (", node.op,
                        ") says where it runs, and auto_sharding is to find that: leave out one of "
                        "the two");
  }
  return "";
}

/// How many stages the compiler is to find; 0 if nodes say where they run.
std::uint32_t StagesToFind(const CompilerOptions& options) {
  if (options.autoSharding > 0) return static_cast<std::uint32_t>(options.autoSharding);
  const bool is_auto = options.virtualGraphMode == "auto" && options.numIpus > 1;
  return is_auto ? static_cast<std::uint32_t>(options.numIpus) : 0;
}

/// A pipeline needs several IPUs and a reason why some node runs on another than the first.
absl::Status CheckPipelining(const CompilerOptions& options, std::uint32_t ipus_used) {
  if (!options.enablePipelining || ipus_used > 1) return absl::OkStatus();
  const std::string found = options.numIpus == 1
                                ? "num_ipus is 1: raise it and place nodes by __ipu_number"
                                : "all nodes are on IPU 0: place some on others by __ipu_number";
  return absl::InvalidArgumentError(
      absl::StrCat("enable_pipelining is true and ", found,
                   " or --manual_sharding_config, or let --auto_sharding N find N stages"));
}

/// Puts all nodes on IPUs. Problems of all graphs are told together. `stages` is StagesToFind.
absl::Status Place(std::vector<ir::Graph>& graphs, const CompilerOptions& options,
                   std::uint32_t num_ipus, std::uint32_t stages, const Log& warn) {
  std::uint32_t used = std::max(stages, std::uint32_t{1});
  std::string problems;
  for (ir::Graph& graph : graphs) {
    if (stages > 1) {
      const std::string problem = PlacedNodes(graph);
      absl::StrAppend(&problems, problems.empty() || problem.empty() ? "" : "\n", problem);
      continue;
    }
    const auto ipus = ipu::PlaceNodes(graph, num_ipus, options.enablePipelining);
    if (ipus.ok()) {
      used = std::max(used, *ipus);
    } else {
      absl::StrAppend(&problems, problems.empty() ? "" : "\n", ipus.status().message());
    }
  }
  if (!problems.empty()) return absl::InvalidArgumentError(problems);
  const absl::Status pipelining = CheckPipelining(options, used);
  if (!pipelining.ok()) return pipelining;
  if (used < num_ipus) {
    warn(absl::StrCat("num_ipus is ", num_ipus, ", the nodes are placed on ", used,
                      used == 1 ? " IPU" : " IPUs",
                      ": the others stay idle; nodes say where they run by __ipu_number, and "
                      "auto_sharding finds a place for them"));
  }
  return absl::OkStatus();
}

/// Tiles for input and output: as many as the options say, or as are best. With `stages` of 2 or
/// more the operators are split into that many.
absl::Status Partition(const std::vector<ir::Graph>& graphs, std::int64_t num_io_tiles,
                       std::uint32_t stages, ipu::Plan& plan) {
  const auto plan_for =
      [&](const ipu::TilePartition& partition) -> absl::StatusOr<std::vector<GraphPlan>> {
    auto plans = PlanGraphs(graphs, plan.target, partition, plan.options);
    if (!plans.ok()) return plans;
    if (stages > 1) {
      ipu::ShardOperators(plan.target, plan.platform, partition, plan.options, stages, *plans);
    } else {
      for (GraphPlan& graph : *plans) ipu::AddIpuExchanges(plan.target, plan.platform, graph);
    }
    return plans;
  };
  if (num_io_tiles == compiler::kAutoIoTiles) {
    auto choice = ipu::ChooseIoTiles(plan.target, plan.platform, plan.options, plan_for);
    if (!choice.ok()) return choice.status();
    num_io_tiles = choice->io_tiles;
    plan.partition_reason = choice->reason;
  }
  const auto partition = ipu::PartitionTiles(plan.target, num_io_tiles);
  if (!partition.ok()) return partition.status();
  plan.partition = *partition;
  auto graph_plans = plan_for(plan.partition);
  if (!graph_plans.ok()) return graph_plans.status();
  plan.graphs = *std::move(graph_plans);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTarget(const CompilerOptions& options) {
  const auto target = TargetOf(options);
  if (!target.ok()) return target.status();
  return ipu::FindPlatform(*target, options.platform).status();
}

absl::StatusOr<ipu::Plan> PlanForIpu(const Converted& converted, const CompilerOptions& options,
                                     const Log& warn) {
  const auto target = TargetOf(options);
  if (!target.ok()) return target.status();
  const auto platform = ipu::FindPlatform(*target, options.platform);
  if (!platform.ok()) return platform.status();
  if (options.batchesPerStep < 1 || options.batchesPerStep > kMostBatchesPerStep) {
    return absl::InvalidArgumentError(absl::StrCat("batches_per_step is ", options.batchesPerStep,
                                                   ", allowed are 1 to ", kMostBatchesPerStep));
  }
  if (options.numIpus < 1 || options.numIpus > compiler::kMostIpus) {
    return absl::InvalidArgumentError(
        absl::StrCat("num_ipus is ", options.numIpus, ", allowed are 1 to ", compiler::kMostIpus));
  }
  std::vector<ir::Graph> graphs;
  for (const ir::Graph& graph : converted.graphs) {
    auto patterned = WithPatterns(graph);
    if (!patterned.ok()) return patterned.status();
    graphs.push_back(*std::move(patterned));
  }
  ipu::Plan plan{.target = *target, .platform = *platform, .options = PlanOptionsOf(options)};
  const std::uint32_t stages = StagesToFind(options);
  absl::Status status = Place(graphs, options, plan.options.num_ipus, stages, warn);
  if (!status.ok()) return status;
  status = Partition(graphs, options.numIoTiles, stages, plan);
  if (!status.ok()) return status;
  if (plan.partition.io_tiles > 0 && options.batchesPerStep < ipu::kPipelineDepth) {
    warn(absl::StrCat("batches_per_step is ", options.batchesPerStep, " with ",
                      plan.partition.io_tiles, " I/O tiles: transfers overlap with computing from ",
                      ipu::kPipelineDepth, " on"));
  }
  plan.memory = ipu::PlanMemory(plan.graphs, plan.target, plan.partition, plan.options);
  for (const GraphPlan& graph : plan.graphs) {
    plan.performance.push_back(
        ipu::Predict(graph, plan.target, plan.platform, plan.partition, plan.options));
  }
  if (!options.allowOutOfMemory) {
    status = ipu::CheckMemory(plan);
    if (!status.ok() && stages > 1) {
      return absl::ResourceExhaustedError(absl::StrCat(
          status.message(), "\nauto_sharding ", stages,
          ": no split into so many stages was found that fits: ", ipu::MissingMemory(plan)));
    }
    if (!status.ok()) return status;
  }
  return plan;
}

}  // namespace poprt::driver
