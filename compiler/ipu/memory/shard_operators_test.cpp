#include "compiler/ipu/memory/shard_operators.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <map>
#include <random>

#include "compiler/ipu/memory/graph_plan_for_test.hpp"
#include "compiler/ipu/memory/plan_memory.hpp"
#include "compiler/ipu/plan/ipu_exchanges.hpp"

namespace poprt::ipu {
namespace {

constexpr TileRange kTiles{0, 4};
constexpr TilePartition kPartition{.io_tiles = 0, .compute_tiles = 4};
const Platform kPlatform{.name = "p",
                         .clock_hz = 1'000'000'000,
                         .host_load_bytes_per_second = 1'000'000'000,
                         .host_store_bytes_per_second = 1'000'000'000};

Target TargetWith(std::uint64_t sram_bytes_per_tile) {
  Target target = SmallTarget(kTiles.count);
  target.sram_bytes_per_tile = sram_bytes_per_tile;
  target.ipu_links = 4;
  target.ipu_link_bits_per_second = 2'000'000'000;
  target.ipu_link_efficiency = 1;
  target.ipu_sync_hop_nanoseconds = 15;
  return target;
}

/// Operators in a chain that take these cycles, each with weights of 1500 bytes on every tile.
GraphPlan Chain(const std::vector<std::uint64_t>& cycles) {
  GraphPlan graph;
  graph.name = "chain";
  graph.tensors = {TensorOn("in", kTiles, 100, TensorKind::kInput)};
  graph.operators = {OperatorOf("HostLoad", {}, {0}, {StepOf(Phase::kHostLoad, kTiles)})};
  graph.operators[0].op = "HostLoad";
  TensorIndex last = 0;
  for (const std::uint64_t of_operator : cycles) {
    const auto weights = static_cast<TensorIndex>(graph.tensors.size());
    graph.tensors.push_back(TensorOn("w", kTiles, 1500, TensorKind::kConstant));
    graph.tensors.push_back(TensorOn("x", kTiles, 100));
    Superstep step = StepOf(Phase::kCompute, kTiles);
    step.cycles = of_operator;
    graph.operators.push_back(OperatorOf("op", {last, weights}, {weights + 1}, {step}));
    last = weights + 1;
  }
  graph.tensors[last].kind = TensorKind::kOutput;
  graph.operators.push_back(
      OperatorOf("HostStore", {last}, {}, {StepOf(Phase::kHostStore, kTiles)}));
  graph.operators.back().op = "HostStore";
  return WithLifetimes(graph);
}

/// How many of the operators of the model are on each IPU.
std::vector<int> Sizes(const GraphPlan& graph, std::uint32_t stages) {
  std::vector<int> sizes(stages);
  for (const OperatorPlan& op : graph.operators) {
    if (op.name != "op") continue;
    EXPECT_EQ(op.stage, op.ipu);
    ++sizes.at(op.ipu);
  }
  return sizes;
}

std::vector<int> Split(std::uint64_t sram_bytes_per_tile, const std::vector<std::uint64_t>& cycles,
                       std::uint32_t stages) {
  std::vector<GraphPlan> graphs = {Chain(cycles)};
  ShardOperators(TargetWith(sram_bytes_per_tile), kPlatform, kPartition, {.num_ipus = stages},
                 stages, graphs);
  return Sizes(graphs[0], stages);
}

TEST(ShardOperatorsTest, StagesTakeEquallyLong) {
  EXPECT_EQ(Split(100000, {5000, 5000, 5000, 5000, 5000, 30000}, 2), (std::vector<int>{5, 1}));
  EXPECT_EQ(Split(100000, {9000, 9000, 9000, 9000, 9000, 9000}, 3), (std::vector<int>{2, 2, 2}));
}

TEST(ShardOperatorsTest, StagesFitTheirTiles) {
  // Five would be 7500 bytes of weights and 4356 that every program has.
  EXPECT_EQ(Split(10000, {5000, 5000, 5000, 5000, 5000, 30000}, 2), (std::vector<int>{3, 3}));
}

TEST(ShardOperatorsTest, WhatFitsNowhereIsBalanced) {
  const std::vector<std::uint64_t> cycles = {5000, 5000, 5000, 5000, 5000, 30000};
  EXPECT_EQ(Split(5000, cycles, 2), (std::vector<int>{5, 1}));
  std::vector<GraphPlan> graphs = {Chain(cycles)};
  const Target target = TargetWith(5000);
  ShardOperators(target, kPlatform, kPartition, {.num_ipus = 2}, 2, graphs);
  Plan plan{.target = target, .platform = kPlatform, .options = {.num_ipus = 2}};
  plan.partition = kPartition;
  plan.memory = PlanMemory(graphs, target, kPartition, plan.options);
  EXPECT_EQ(plan.memory.overflowing.size(), 8U);
  EXPECT_EQ(MissingMemory(plan),
            "IPU 0 lacks " + std::to_string(NeededBytes(plan.memory.tiles[0]) - 5000) +
                " bytes on a tile, IPU 1 lacks " +
                std::to_string(NeededBytes(plan.memory.tiles[4]) - 5000) + " bytes on a tile");
}

TEST(ShardOperatorsTest, EquallyFastStagesShareMemory) {
  // Wherever it is cut the first operator decides; three and three are the least for the fuller.
  EXPECT_EQ(Split(100000, {50000, 0, 0, 0, 0, 0}, 2), (std::vector<int>{3, 3}));
}

/// Operators that read what a random one before them made, of random time and size.
GraphPlan RandomTree(std::mt19937& random, std::size_t operators) {
  GraphPlan graph;
  graph.name = "tree";
  graph.tensors = {TensorOn("in", kTiles, 100, TensorKind::kInput)};
  graph.operators = {OperatorOf("HostLoad", {}, {0}, {StepOf(Phase::kHostLoad, kTiles)})};
  graph.operators[0].op = "HostLoad";
  for (std::size_t i = 0; i < operators; ++i) {
    const auto made = static_cast<TensorIndex>(graph.tensors.size());
    const auto read = static_cast<TensorIndex>(random() % made);
    graph.tensors.push_back(TensorOn("x", kTiles, 4 + random() % 2000));
    Superstep step = StepOf(Phase::kCompute, kTiles);
    step.cycles = random() % 10000;
    graph.operators.push_back(OperatorOf("op", {read}, {made}, {step}));
  }
  const auto last = static_cast<TensorIndex>(graph.tensors.size() - 1);
  graph.tensors[last].kind = TensorKind::kOutput;
  graph.operators.push_back(
      OperatorOf("HostStore", {last}, {}, {StepOf(Phase::kHostStore, kTiles)}));
  graph.operators.back().op = "HostStore";
  return WithLifetimes(graph);
}

/// Cycles of the slowest stage, with what it receives.
std::uint64_t SlowestStage(const GraphPlan& graph) {
  std::map<std::uint32_t, std::uint64_t> cycles;
  std::uint64_t slowest = 0;
  for (const OperatorPlan& op : graph.operators) {
    slowest = std::max(slowest, cycles[op.stage] += op.cycles());
  }
  return slowest;
}

/// The least SlowestStage of all ways to cut the graph.
std::uint64_t LeastSlowestStage(const Target& target, const GraphPlan& graph,
                                std::uint32_t stages) {
  const std::size_t operators = graph.operators.size() - 2;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t cuts = 0; cuts < 1U << (operators - 1); ++cuts) {
    if (static_cast<std::uint32_t>(std::popcount(cuts)) + 1 != stages) continue;
    GraphPlan cut = graph;
    std::uint32_t stage = 0;
    for (std::size_t i = 0; i < operators; ++i) {
      if (i > 0) stage += cuts >> (i - 1) & 1U;
      cut.operators[i + 1].ipu = cut.operators[i + 1].stage = stage;
    }
    AddIpuExchanges(target, kPlatform, cut);
    least = std::min(least, SlowestStage(cut));
  }
  return least;
}

TEST(ShardOperatorsTest, NoOtherCutsAreFaster) {
  const Target target = TargetWith(1000000);
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const GraphPlan graph = RandomTree(random, 4 + random() % 6);
    const std::uint32_t stages = 2 + seed % 3;
    std::vector<GraphPlan> graphs = {graph};
    ShardOperators(target, kPlatform, kPartition, {.num_ipus = stages}, stages, graphs);
    EXPECT_EQ(SlowestStage(graphs[0]), LeastSlowestStage(target, graph, stages));
  }
}

TEST(ShardOperatorsTest, AsManyStagesAsOperatorsAtMost) {
  EXPECT_EQ(Split(100000, {10, 20}, 4), (std::vector<int>{1, 1, 0, 0}));
  EXPECT_EQ(Split(100000, {10, 20, 30, 40}, 4), (std::vector<int>{1, 1, 1, 1}));
}

TEST(ShardOperatorsTest, ATableTellsTheStages) {
  Plan plan{.target = TargetWith(10000), .platform = kPlatform, .options = {.num_ipus = 2}};
  plan.partition = kPartition;
  plan.graphs = {Chain({1000, 3000})};
  ShardOperators(plan.target, kPlatform, kPartition, plan.options, 2, plan.graphs);
  plan.memory = PlanMemory(plan.graphs, plan.target, kPartition, plan.options);
  // The exchange of 400 bytes takes 600 + 30 + 400 cycles of the second.
  EXPECT_EQ(StageTable(plan),
            "stage IPU operators        cycles  fullest tile, B   (chain)\n"
            "    0   0         2          1000             " +
                std::to_string(NeededBytes(plan.memory.tiles[0])) +
                "\n"
                "    1   1         2          4030             " +
                std::to_string(NeededBytes(plan.memory.tiles[4])) + "\n");
}

}  // namespace
}  // namespace poprt::ipu
