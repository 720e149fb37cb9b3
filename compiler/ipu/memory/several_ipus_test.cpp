// A plan for several IPUs: what is exchanged between them, what lies on each, what it takes.
#include <gtest/gtest.h>

#include "compiler/ipu/memory/graph_plan_for_test.hpp"
#include "compiler/ipu/memory/performance.hpp"
#include "compiler/ipu/memory/plan_memory.hpp"
#include "compiler/ipu/plan/ipu_exchanges.hpp"

namespace poprt::ipu {
namespace {

constexpr TileRange kTiles{0, 4};
const Platform kPlatform{.name = "p",
                         .clock_hz = 1'000'000'000,
                         .host_load_bytes_per_second = 1'000'000'000,
                         .host_store_bytes_per_second = 1'000'000'000};

Target LinkedTarget() {
  Target target = SmallTarget(kTiles.count);
  target.ipu_links = 4;
  target.ipu_link_bits_per_second = 2'000'000'000;  // a byte in each nanosecond, over all of them
  target.ipu_link_efficiency = 1;
  target.ipu_sync_hop_nanoseconds = 15;
  return target;
}

Superstep Calculates(std::uint64_t cycles) {
  Superstep step = StepOf(Phase::kCompute, kTiles);
  step.cycles = cycles;
  return step;
}

enum Tensors : TensorIndex { kIn, kW, kA, kView, kB, kMore, kOut };

/// load; a = A(in, w); v = V(a) in its memory; b = B(v, more) in the memory of v; out = C(a, b, w);
/// store. B and C are on IPU 1, in stage 1 if there is a pipeline.
GraphPlan TwoIpus(bool is_pipeline) {
  GraphPlan graph;
  graph.tensors = {TensorOn("in", kTiles, 100, TensorKind::kInput),
                   TensorOn("w", kTiles, 1000, TensorKind::kConstant),
                   TensorOn("a", kTiles, 200),
                   TensorOn("v", kTiles, 200),
                   TensorOn("b", kTiles, 200),
                   TensorOn("more", kTiles, 300, TensorKind::kInput),
                   TensorOn("out", kTiles, 400, TensorKind::kOutput)};
  graph.tensors[kView].storage = kA;
  graph.tensors[kB].storage = kA;
  Superstep load = StepOf(Phase::kHostLoad, kTiles);
  load.cycles = 4000;
  Superstep store = StepOf(Phase::kHostStore, kTiles);
  graph.operators = {OperatorOf("HostLoad", {}, {kIn, kMore}, {load}),
                     OperatorOf("A", {kIn, kW}, {kA}, {Calculates(1000)}),
                     OperatorOf("V", {kA}, {kView}, {}),
                     OperatorOf("B", {kView, kMore}, {kB}, {Calculates(500)}),
                     OperatorOf("C", {kA, kB, kW}, {kOut}, {Calculates(700)}),
                     OperatorOf("HostStore", {kOut}, {}, {store})};
  graph.operators[4].outlined = 3;
  for (const std::size_t i : {3U, 4U}) {
    graph.operators[i].ipu = 1;
    graph.operators[i].stage = is_pipeline ? 1 : 0;
  }
  return WithLifetimes(graph);
}

std::vector<std::string> Names(const GraphPlan& graph) {
  std::vector<std::string> names;
  for (const OperatorPlan& op : graph.operators) {
    names.push_back(op.name + "@" + std::to_string(op.ipu));
  }
  return names;
}

TEST(SeveralIpusTest, OneNeedsNothing) {
  GraphPlan graph = TwoIpus(false);
  for (OperatorPlan& op : graph.operators) op.ipu = 0;
  const std::vector<std::string> before = Names(graph);
  AddIpuExchanges(LinkedTarget(), kPlatform, graph);
  EXPECT_EQ(Names(graph), before);
}

TEST(SeveralIpusTest, WhatAnotherMadeIsReceivedOnce) {
  GraphPlan graph = TwoIpus(false);
  AddIpuExchanges(LinkedTarget(), kPlatform, graph);
  EXPECT_EQ(Names(graph),
            (std::vector<std::string>{"HostLoad@0", "HostLoad/IPU 1@1", "A@0", "V@0",
                                      "v/IPU 0 to 1/send@0", "v/IPU 0 to 1/receive@1", "B@1",
                                      "a/IPU 0 to 1/send@0", "a/IPU 0 to 1/receive@1", "C@1",
                                      "HostStore@0", "HostStore/IPU 1@1"}));
  EXPECT_EQ(graph.operators[9].outlined, 6U);
  // Inputs of 100 and 300 bytes a tile.
  EXPECT_EQ(graph.operators[0].steps.at(0).cycles, 1000U);
  EXPECT_EQ(graph.operators[1].steps.at(0).cycles, 3000U);
  EXPECT_TRUE(graph.operators[10].steps.empty());
  // 800 bytes, a sync of 600 cycles and of one hop there and back.
  EXPECT_EQ(graph.operators[4].cycles(), 0U);
  EXPECT_EQ(graph.operators[5].cycles(), 800U + 600U + 30U);
}

TEST(SeveralIpusTest, CopiesHaveTheMemoryThatResultsAreIn) {
  GraphPlan graph = TwoIpus(false);
  AddIpuExchanges(LinkedTarget(), kPlatform, graph);
  ASSERT_EQ(graph.tensors.size(), 9U);
  const TensorIndex view_copy = 7;
  EXPECT_EQ(graph.tensors[view_copy].name, "v/IPU 1");
  EXPECT_EQ(graph.tensors[kView].storage, kA);
  EXPECT_EQ(graph.tensors[kB].storage, view_copy);
  EXPECT_EQ(graph.operators[6].inputs, (std::vector<TensorIndex>{view_copy, kMore}));
  EXPECT_EQ(graph.operators[9].inputs, (std::vector<TensorIndex>{8, kB, kW}));
  EXPECT_EQ(graph.tensors[kA].last, 7U);
  EXPECT_EQ(graph.tensors[view_copy].first, 5U);
}

std::uint64_t Bytes(const TileMemory& tile, MemoryCategory category) {
  return BytesOf(tile, category);
}

TEST(SeveralIpusTest, MemoryIsCountedWhereThingsLie) {
  const Target target = LinkedTarget();
  GraphPlan graph = TwoIpus(false);
  AddIpuExchanges(target, kPlatform, graph);
  const MemoryPlan memory =
      PlanMemory({graph}, target, {.io_tiles = 0, .compute_tiles = 4}, {.num_ipus = 3});
  ASSERT_EQ(memory.tiles.size(), 12U);
  // The weight where it is read; nothing but the program on an IPU without operators.
  EXPECT_EQ(Bytes(memory.tiles[0], MemoryCategory::kConstants), 1000U);
  EXPECT_EQ(Bytes(memory.tiles[4], MemoryCategory::kConstants), 1000U);
  EXPECT_EQ(Bytes(memory.tiles[8], MemoryCategory::kConstants), 0U);
  // IPU 0 at A: in and a. IPU 1 at C: copies of v (with b in it) and of a, out; more is gone.
  EXPECT_EQ(Bytes(memory.tiles[0], MemoryCategory::kVariablesNotAlwaysLive), 300U);
  EXPECT_EQ(Bytes(memory.tiles[4], MemoryCategory::kVariablesNotAlwaysLive), 800U);
  EXPECT_EQ(Bytes(memory.tiles[8], MemoryCategory::kVariablesNotAlwaysLive), 0U);
}

TEST(SeveralIpusTest, APipelineTakesTheTimeOfItsSlowestIpu) {
  const Target target = LinkedTarget();
  double seconds[2];
  for (const bool is_pipeline : {false, true}) {
    GraphPlan graph = TwoIpus(is_pipeline);
    AddIpuExchanges(target, kPlatform, graph);
    const Performance performance =
        Predict(graph, target, kPlatform, {.io_tiles = 0, .compute_tiles = 4}, {.num_ipus = 2});
    // 1000 on IPU 0; two exchanges of 1430 and 1200 on IPU 1.
    EXPECT_EQ(performance.compute_cycles, 1000U + 2 * 1430U + 1200U);
    seconds[is_pipeline ? 1 : 0] = performance.serial_seconds;
  }
  EXPECT_NEAR(seconds[0] - seconds[1], 1000e-9, 1e-12);
}

}  // namespace
}  // namespace poprt::ipu
