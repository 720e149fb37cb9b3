#include "compiler/ipu/memory/performance.hpp"

#include <gtest/gtest.h>

#include "compiler/ipu/memory/graph_plan_for_test.hpp"

namespace poprt::ipu {
namespace {

constexpr TilePartition kNoIoTiles{.io_tiles = 0, .compute_tiles = 1472};
constexpr TilePartition kIoTiles{.io_tiles = 32, .compute_tiles = 1440};

/// A clock of 1 GHz, 1 GB/s to and 0.5 GB/s from the tiles, 100 us a call.
const Platform kRound{.name = "round",
                      .clock_hz = 1000000000,
                      .host_load_bytes_per_second = 1000000000,
                      .host_store_bytes_per_second = 500000000,
                      .call_nanoseconds = 100000};

Superstep Step(Phase phase, std::uint64_t cycles, std::uint64_t repeats = 1) {
  Superstep step = StepOf(phase);
  step.repeats = repeats;
  step.cycles = cycles;
  return step;
}

/// 1 ms of compute, 0.1 ms of copies from and to I/O tiles, 2 ms of loads, 0.5 ms of stores.
GraphPlan Graph() {
  return {
      .name = "g",
      .operators = {OperatorOf("load", {}, {},
                               {Step(Phase::kHostLoad, 600), Step(Phase::kIoToCompute, 70000)}),
                    OperatorOf("a", {}, {},
                               {Step(Phase::kExchange, 10000, 10), Step(Phase::kCopy, 100000),
                                Step(Phase::kCompute, 800000)}),
                    OperatorOf("store", {}, {},
                               {Step(Phase::kComputeToIo, 30000), Step(Phase::kHostStore, 600)})},
      .samples = 10,
      .input_bytes = 2000000,
      .output_bytes = 250000};
}

PlanOptions BatchesPerStep(std::int64_t batches) {
  PlanOptions options;
  options.batches_per_step = batches;
  return options;
}

TEST(PerformanceTest, SerialByHand) {
  const Performance p = Predict(Graph(), SmallTarget(1472), kRound, kNoIoTiles, BatchesPerStep(1));
  EXPECT_EQ(p.compute_cycles, 1000000U);
  EXPECT_EQ(p.io_copy_cycles, 100000U);
  EXPECT_DOUBLE_EQ(p.host_load_seconds, 2e-3);
  EXPECT_DOUBLE_EQ(p.host_store_seconds, 0.5e-3);
  EXPECT_DOUBLE_EQ(p.serial_seconds, 3.7e-3);  // 1 + 2.5 + 0.1, the call 0.1
  EXPECT_DOUBLE_EQ(p.overlap_seconds, 3.7e-3);
  EXPECT_DOUBLE_EQ(p.latency_seconds, 3.7e-3);
  EXPECT_NEAR(p.throughput, 10 / 3.7e-3, 1e-6);
}

TEST(PerformanceTest, TheBatchesOfAStepShareTheCall) {
  const Performance p = Predict(Graph(), SmallTarget(1472), kRound, kNoIoTiles, BatchesPerStep(10));
  EXPECT_DOUBLE_EQ(p.serial_seconds, 3.61e-3);
  EXPECT_DOUBLE_EQ(p.latency_seconds, 3.7e-3);
}

TEST(PerformanceTest, OverlapByHand) {
  // Transfers of 2.5 ms hide 1 ms of compute; copies 0.1 ms, a sync 0.6 us, the call 1 us.
  const Performance p = Predict(Graph(), SmallTarget(1472), kRound, kIoTiles, BatchesPerStep(100));
  EXPECT_DOUBLE_EQ(p.serial_seconds, 3.601e-3);
  EXPECT_DOUBLE_EQ(p.overlap_seconds, 2.6016e-3);
  EXPECT_NEAR(p.throughput, 10 / 2.6266e-3, 1e-6);              // 25 us to fill and drain
  EXPECT_NEAR(p.latency_seconds, 3 * 2.6006e-3 + 1e-4, 1e-12);  // three deep, and the call
}

TEST(PerformanceTest, OverlapTakesThreeBatchesInAStep) {
  const Performance two = Predict(Graph(), SmallTarget(1472), kRound, kIoTiles, BatchesPerStep(2));
  EXPECT_DOUBLE_EQ(two.overlap_seconds, two.serial_seconds);
  const Performance three =
      Predict(Graph(), SmallTarget(1472), kRound, kIoTiles, BatchesPerStep(3));
  EXPECT_LT(three.overlap_seconds, three.serial_seconds);
}

TEST(PerformanceTest, ACopyIsAsSlowAsItsTiles) {
  GraphPlan graph = Graph();
  graph.operators[0].steps[0].cycles = 3000000;  // one tile gets everything
  EXPECT_DOUBLE_EQ(Predict(graph, SmallTarget(1472), kRound, kNoIoTiles, {}).host_load_seconds,
                   3e-3);
}

TEST(PerformanceTest, StagesOfAPipelineWorkAtTheSameTime) {
  GraphPlan graph = Graph();
  graph.operators.insert(graph.operators.begin() + 2,
                         OperatorOf("b", {}, {}, {Step(Phase::kCompute, 600000)}));
  graph.operators[2].ipu = 1;
  const auto serial = [&] {
    return Predict(graph, SmallTarget(1472), kRound, kNoIoTiles, {}).serial_seconds;
  };
  EXPECT_DOUBLE_EQ(serial(), 4.3e-3);  // one after the other
  graph.operators[2].stage = 1;
  EXPECT_DOUBLE_EQ(serial(), 3.7e-3);
  const Performance p = Predict(graph, SmallTarget(1472), kRound, kNoIoTiles, {});
  EXPECT_EQ(p.compute_cycles, 1600000U);
  EXPECT_DOUBLE_EQ(p.latency_seconds, 4.3e-3);
}

/// Section 4: the host bounds WideDeep with 51,200 samples, 1.440 ms a batch; ResNet50 with one
/// sample takes 0.321 ms, most of it the call.
TEST(PerformanceTest, PublishedRowsThatTheHostDecides) {
  const Target target = FindTarget("ipu21").value();
  const Platform platform = FindPlatform(target, "c600").value();
  const GraphPlan wide_deep{
      .name = "WideDeep",
      .operators = {OperatorOf("a", {}, {}, {Step(Phase::kCompute, 1500000)})},
      .samples = 51200,
      .input_bytes = std::uint64_t{51200} * 234,
      .output_bytes = std::uint64_t{51200} * 2};
  const Performance p = Predict(wide_deep, target, platform, kIoTiles, BatchesPerStep(1024));
  EXPECT_NEAR(p.throughput / 35545357, 1.0, 0.05);

  const GraphPlan resnet{.name = "ResNet50",
                         .operators = {OperatorOf("a", {}, {}, {Step(Phase::kCompute, 150000)})},
                         .samples = 1,
                         .input_bytes = std::uint64_t{224} * 224 * 3,
                         .output_bytes = 2000};
  const Performance one = Predict(resnet, target, platform, kNoIoTiles, BatchesPerStep(1));
  EXPECT_NEAR(one.serial_seconds / 0.321e-3, 1.0, 0.25);
}

}  // namespace
}  // namespace poprt::ipu
