#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/ipu/plan/plan.hpp"

/// Plans for the tests of reports.
namespace poprt::ipu::fixture {

inline Platform C600() {
  return {.name = "c600",
          .clock_hz = 1'500'000'000,
          .host_load_bytes_per_second = 8'300'000'000,
          .host_store_bytes_per_second = 8'300'000'000,
          .call_nanoseconds = 150'000};
}

/// A program of one graph on four tiles whose figures can be added up by hand.
inline Plan SmallPlan() {
  Plan plan;
  plan.target.ipu_version = "small";
  plan.target.architecture = "four tiles";
  plan.target.tiles = 4;
  plan.target.sram_bytes_per_tile = 4096;
  plan.target.executable_bytes = 1024;
  plan.platform = {.name = "bench", .clock_hz = 1'000'000'000};
  plan.partition = {.io_tiles = 0, .compute_tiles = 4};

  GraphPlan graph{.name = "model"};
  graph.samples = 2;
  graph.input_bytes = 1000;
  graph.output_bytes = 100;
  graph.tensors = {{.name = "x", .kind = TensorKind::kInput, .bytes = 1000},
                   {.name = "w", .kind = TensorKind::kConstant, .bytes = 2000, .shared = 7},
                   {.name = "y", .kind = TensorKind::kOutput, .bytes = 100},
                   {.name = "view of y", .bytes = 100, .storage = 2}};
  const Superstep send{.phase = Phase::kExchange,
                       .name = "broadcast",
                       .vertex = "",
                       .tiles = {0, 4},
                       .cycles = 100,
                       .total_cycles = 400,
                       .bytes = 1000};
  const Superstep multiply{.phase = Phase::kCompute,
                           .name = "calculate",
                           .vertex = "poplin::ConvPartial1x1Out<half,half>",
                           .tiles = {0, 4},
                           .repeats = 2,
                           .cycles = 1000,
                           .total_cycles = 3000,
                           .vertices = 4,
                           .edges = 12,
                           .vertex_state_bytes = 40};
  const Superstep copy{.phase = Phase::kCopy,
                       .name = "rearrange",
                       .vertex = "poplar_rt::Memcpy64Bit",
                       .tiles = {0, 2},
                       .cycles = 300,
                       .total_cycles = 600,
                       .vertices = 2,
                       .edges = 4,
                       .bytes = 500,
                       .vertex_state_bytes = 10};
  const Superstep load{
      .phase = Phase::kHostLoad, .name = "x", .vertex = "", .tiles = {0, 4}, .cycles = 50};
  graph.operators = {
      {.name = "", .op = "HostLoad", .outputs = {0}, .steps = {load}},
      {.name = "product",
       .op = "MatMul",
       .flops = 8000,
       .inputs = {0, 1},
       .outputs = {2},
       .steps = {send, multiply, copy},
       .grid = "2 x 2"},
      {.name = "again", .op = "MatMul", .flops = 8000, .steps = {send, multiply}, .outlined = 1}};
  plan.graphs.push_back(std::move(graph));

  plan.memory.tiles.resize(4);
  for (std::size_t tile = 0; tile < 4; ++tile) {
    TileMemory& memory = plan.memory.tiles[tile];
    memory.bytes[static_cast<std::size_t>(MemoryCategory::kConstants)] = 500;
    memory.bytes[static_cast<std::size_t>(MemoryCategory::kStack)] = 300;
    memory.peak_operator = 1;
  }
  TileMemory& fullest = plan.memory.tiles[2];
  fullest.bytes[static_cast<std::size_t>(MemoryCategory::kVariablesNotAlwaysLive)] = 4000;
  fullest.gap_bytes = 24;
  plan.memory.overflowing = {2};
  plan.memory.liveness = {{{100, 30}, {4000, 4000}, {200, 60}}};
  plan.memory.graph_bytes = {7200};
  plan.performance = {{.compute_cycles = 4500,
                       .host_load_seconds = 1e-6,
                       .host_store_seconds = 0.5e-6,
                       .serial_seconds = 6e-6,
                       .overlap_seconds = 6e-6,
                       .latency_seconds = 6e-6,
                       .throughput = 2 / 6e-6}};
  return plan;
}

/// Numbers that look random and are the same everywhere.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Between(std::uint64_t low, std::uint64_t high) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return low + (state_ >> 33U) % (high - low + 1);
  }

 private:
  std::uint64_t state_;
};

/// A transformer's operators on all compute tiles of a C600: `layers` of ten operators each between
/// HostLoad and HostStore.
class RealisticGraph {
 public:
  RealisticGraph(std::string name, std::size_t layers, std::uint64_t seed, TilePartition partition)
      : partition_(partition), numbers_(seed) {
    graph_.name = std::move(name);
    graph_.samples = 16;
    graph_.input_bytes = 12'000'000;
    graph_.output_bytes = 2'000'000;
    Host("HostLoad", "load inputs", Phase::kHostLoad, Phase::kIoToCompute);
    for (std::size_t layer = 0; layer < layers; ++layer) Layer(layer);
    Host("HostStore", "store outputs", Phase::kHostStore, Phase::kComputeToIo);
  }

  GraphPlan Take() { return std::move(graph_); }

 private:
  void Host(const std::string& op, const std::string& name, Phase stream, Phase copy) {
    OperatorPlan plan{.name = name, .op = op};
    plan.steps.push_back(Step(stream, "stream copy", "", 2000));
    if (partition_.io_tiles > 0) plan.steps.push_back(Step(copy, "between tiles", "", 30'000));
    AddOperator(std::move(plan));
  }

  void Layer(std::size_t layer) {
    static const char* const kOps[] = {
        "MatMul", "Add",  "Attention", "MatMul", "Add", "LayerNormalization",
        "MatMul", "Gelu", "MatMul",    "Add"};
    for (std::size_t i = 0; i < 10; ++i) {
      OperatorPlan plan{.name = absl::StrCat("/encoder/layer.", layer, "/", kOps[i], "_", i),
                        .op = kOps[i]};
      if (layer > 0) plan.outlined = 1 + i;
      Expand(plan);
      AddOperator(std::move(plan));
    }
  }

  void Expand(OperatorPlan& plan) {
    if (plan.op == "MatMul") {
      plan.flops = 2ULL * 2048 * 1024 * 3072;
      plan.grid = "3 x 54 x 9 of 243 x 64 x 128";
      plan.inputs.push_back(AddTensor(plan.name + ".weight", TensorKind::kConstant, 6'000'000));
      plan.steps = {
          Step(Phase::kExchange, "broadcast inputs", "", 4000),
          Step(Phase::kCompute, "calculate", "poplin::ConvPartial1x1Out<half,half>", 37'000),
          Step(Phase::kExchange, "partials", "", 3000),
          Step(Phase::kCompute, "reduce", "popops::Reduce<add,half,half>", 1500)};
    } else if (plan.op == "Attention") {
      plan.steps = {
          Step(Phase::kCopy, "rearrange", "poplar_rt::StridedCopyDA32", 60'000),
          Step(Phase::kCompute, "calculate", "poplin::ConvPartial1x1Out<half,half>", 8500),
          Step(Phase::kCompute, "softmax: exp", "popops::UnaryOp1D<exp,half>", 9000)};
    } else {
      plan.steps = {Step(Phase::kExchange, "align operands", "", 900),
                    Step(Phase::kCompute, "elementwise", "popops::BinaryOp1D<add,half>", 2500)};
    }
  }

  Superstep Step(Phase phase, std::string name, std::string vertex, std::uint64_t cycles) {
    const std::uint64_t slowest = cycles + cycles / 8;
    const std::uint64_t tiles = partition_.compute_tiles;
    return {.phase = phase,
            .name = std::move(name),
            .vertex = std::move(vertex),
            .tiles = {partition_.io_tiles, partition_.compute_tiles},
            .cycles = slowest,
            .total_cycles = slowest * tiles * 9 / 10,
            .vertices = tiles * 4,
            .edges = tiles * 12,
            .bytes = slowest * tiles,
            .temporary_bytes = slowest / 2,
            .vertex_state_bytes = 40,
            .exchange_code_bytes = 60,
            .control_code_bytes = 17};
  }

  TensorIndex AddTensor(std::string name, TensorKind kind, std::uint64_t bytes) {
    TensorPlan tensor{.name = std::move(name), .kind = kind, .bytes = bytes};
    tensor.mapping = {.tiles = {partition_.io_tiles, partition_.compute_tiles},
                      .bytes_per_tile = bytes / partition_.compute_tiles + 1,
                      .grain_bytes = 8};
    tensor.first = graph_.operators.size();
    tensor.last = tensor.first + numbers_.Between(1, 4);
    if (kind == TensorKind::kConstant) tensor.shared = graph_.tensors.size();
    graph_.tensors.push_back(std::move(tensor));
    return static_cast<TensorIndex>(graph_.tensors.size() - 1);
  }

  void AddOperator(OperatorPlan plan) {
    if (last_ != kNone) plan.inputs.insert(plan.inputs.begin(), last_);
    if (plan.op != "HostStore") {
      last_ = AddTensor(plan.name + "_output", TensorKind::kActivation,
                        numbers_.Between(4'000'000, 30'000'000));
      plan.outputs.push_back(last_);
    }
    graph_.operators.push_back(std::move(plan));
  }

  static constexpr TensorIndex kNone = ~TensorIndex{0};

  TilePartition partition_;
  Numbers numbers_;
  TensorIndex last_ = kNone;
  GraphPlan graph_;
};

inline std::vector<LivenessPoint> LivenessOf(const GraphPlan& graph) {
  std::vector<LivenessPoint> points(graph.operators.size());
  for (const TensorPlan& tensor : graph.tensors) {
    if (tensor.always_live()) continue;
    for (std::size_t op = tensor.first; op <= tensor.last && op < points.size(); ++op) {
      points[op].bytes += tensor.bytes;
      points[op].fullest_tile += tensor.mapping.bytes_per_tile + 5000;
    }
  }
  return points;
}

inline std::vector<TileMemory> TilesOf(const Plan& plan, std::uint64_t seed) {
  Numbers numbers(seed);
  std::vector<TileMemory> tiles(plan.target.tiles);
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    TileMemory& tile = tiles[t];
    const auto set = [&](MemoryCategory category, std::uint64_t bytes) {
      tile.bytes[static_cast<std::size_t>(category)] = bytes;
    };
    const bool io = t < plan.partition.io_tiles;
    set(MemoryCategory::kConstants, io ? 0 : 150'000 + 400 * (t / 16));
    set(MemoryCategory::kVariablesNotAlwaysLive,
        io ? 280'000 : 110'000 + (t > 1200 ? 90'000 : 0) + numbers.Between(0, 9) * 2048);
    set(MemoryCategory::kVertexCode, io ? 900 : 9600);
    set(MemoryCategory::kVertexState, io ? 120 : 8700);
    set(MemoryCategory::kInternalExchangeCode, 11'000);
    set(MemoryCategory::kHostExchangeCode, io ? 1200 : 289);
    set(MemoryCategory::kControlCode, 9000);
    set(MemoryCategory::kStack, 3168);
    tile.gap_bytes = 2000;
    tile.peak_graph = static_cast<std::uint32_t>(t % 2);
    tile.peak_operator = 7;
  }
  return tiles;
}

inline Performance PerformanceOf(const GraphPlan& graph, const Platform& platform) {
  Performance performance;
  performance.compute_cycles = graph.cycles();
  performance.host_load_seconds = static_cast<double>(graph.input_bytes) / 8.3e9;
  performance.host_store_seconds = static_cast<double>(graph.output_bytes) / 8.3e9;
  const double device = Seconds(platform, graph.cycles());
  const double host = performance.host_load_seconds + performance.host_store_seconds;
  performance.io_copy_cycles = 60'000;
  performance.serial_seconds = device + host;
  performance.overlap_seconds = std::max(device, host);
  performance.latency_seconds = 3 * performance.overlap_seconds;
  performance.throughput = static_cast<double>(graph.samples) / performance.overlap_seconds;
  return performance;
}

/// Two graphs of `layers` layers on the 1,472 tiles of a C600.
inline Plan RealisticPlan(std::size_t layers, std::uint32_t io_tiles) {
  Plan plan;
  plan.target.ipu_version = "ipu21";
  plan.target.architecture = "C600";
  plan.target.tiles = 1472;
  plan.target.sram_bytes_per_tile = 638'976;
  plan.target.executable_bytes = 212'992;
  plan.platform = C600();
  plan.options.batches_per_step = 16;
  plan.partition = {.io_tiles = io_tiles, .compute_tiles = 1472 - io_tiles};
  plan.partition_reason = "64 I/O tiles: 4,812 samples/s; 32: 4,790; 96: 4,771; 0: 3,105";
  plan.graphs.push_back(RealisticGraph("encoder", layers, 1, plan.partition).Take());
  plan.graphs.push_back(RealisticGraph("ranker", layers, 2, plan.partition).Take());
  for (const GraphPlan& graph : plan.graphs) {
    plan.memory.liveness.push_back(LivenessOf(graph));
    plan.performance.push_back(PerformanceOf(graph, plan.platform));
  }
  plan.memory.tiles = TilesOf(plan, 3);
  plan.memory.graph_bytes = {330'000'000, 210'000'000};
  plan.memory.shared_weight_bytes = 60'000'000;
  plan.memory.shared_activation_bytes = 41'000'000;
  plan.memory.shared_code_bytes = 9'000'000;
  return plan;
}

}  // namespace poprt::ipu::fixture
