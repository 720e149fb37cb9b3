#include "compiler/ipu/memory/plan_memory.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "compiler/ipu/memory/graph_plan_for_test.hpp"
#include "compiler/ipu/memory/program_bytes.hpp"

namespace poprt::ipu {
namespace {

constexpr TilePartition kFourTiles{.io_tiles = 0, .compute_tiles = 4};
constexpr std::uint64_t kFixedBytes = 4356;  ///< of every tile (section 3.5)

/// A weight on all tiles and activations on one tile: `x` is read by operator 0, `a` by operator 1.
GraphPlan Graph(std::uint32_t tile, std::uint64_t activation) {
  GraphPlan graph{.name = "g",
                  .tensors = {TensorOn("w", {.first = 0, .count = 4}, 1000, TensorKind::kConstant),
                              TensorOn("x", {.first = tile, .count = 1}, 100, TensorKind::kInput),
                              TensorOn("a", {.first = tile, .count = 1}, activation),
                              TensorOn("y", {.first = tile, .count = 1}, 300, TensorKind::kOutput)},
                  .operators = {OperatorOf("0", {0, 1}, {2}, {}), OperatorOf("1", {2}, {3}, {})}};
  graph.tensors[0].shared = 1;
  return WithLifetimes(std::move(graph));
}

TEST(PlanMemoryTest, OneGraphByHand) {
  const MemoryPlan memory = PlanMemory({Graph(1, 400)}, SmallTarget(4), kFourTiles, {});
  ASSERT_EQ(memory.tiles.size(), 4U);
  const TileMemory& tile = memory.tiles[1];
  EXPECT_EQ(BytesOf(tile, MemoryCategory::kConstants), 1000U);
  EXPECT_EQ(BytesOf(tile, MemoryCategory::kVariablesNotAlwaysLive), 700U);
  EXPECT_EQ(BytesOf(tile, MemoryCategory::kStack), 3168U);
  EXPECT_EQ(tile.total(), 1700 + kFixedBytes);
  EXPECT_EQ(NeededBytes(tile), 1700 + kFixedBytes);
  EXPECT_EQ(ExecutableBytes(tile), kFixedBytes - 3168);
  EXPECT_EQ(tile.peak_operator, 1U);
  EXPECT_EQ(memory.tiles[0].total(), 1000 + kFixedBytes);
  EXPECT_EQ(memory.fullest_tile(), 1700 + kFixedBytes);
  ASSERT_EQ(memory.liveness.size(), 1U);
  EXPECT_EQ(memory.liveness[0][0].bytes, 500U);
  EXPECT_EQ(memory.liveness[0][1].bytes, 700U);
  EXPECT_EQ(memory.graph_bytes, (std::vector<std::uint64_t>{4 * (1000 + kFixedBytes) + 700}));
  EXPECT_EQ(memory.shared_weight_bytes + memory.shared_activation_bytes + memory.shared_code_bytes,
            0U);
  EXPECT_TRUE(memory.overflowing.empty());
}

TEST(PlanMemoryTest, GraphsShareActivationsWeightsAndCode) {
  const std::vector<GraphPlan> graphs = {Graph(1, 400), Graph(1, 900), Graph(2, 500)};
  const MemoryPlan memory = PlanMemory(graphs, SmallTarget(4), kFourTiles, {});
  EXPECT_EQ(BytesOf(memory.tiles[1], MemoryCategory::kVariablesNotAlwaysLive), 1200U);
  EXPECT_EQ(memory.tiles[1].peak_graph, 1U);
  EXPECT_EQ(BytesOf(memory.tiles[2], MemoryCategory::kVariablesNotAlwaysLive), 800U);
  EXPECT_EQ(memory.tiles[2].peak_graph, 2U);
  EXPECT_EQ(BytesOf(memory.tiles[0], MemoryCategory::kConstants), 1000U);
  EXPECT_EQ(memory.shared_activation_bytes, 700U);
  EXPECT_EQ(memory.shared_weight_bytes, 8000U);
  EXPECT_EQ(memory.shared_code_bytes, 8 * kFixedBytes);
  std::uint64_t together = 0;
  for (const TileMemory& tile : memory.tiles) together += tile.total();
  const std::uint64_t apart =
      std::accumulate(memory.graph_bytes.begin(), memory.graph_bytes.end(), std::uint64_t{0});
  EXPECT_EQ(apart - together, 700 + 8000 + 8 * kFixedBytes);
}

TEST(PlanMemoryTest, GapsMakeUpForMappingsThatAreTooEven) {
  // The mean of the compute tiles is 5,656 bytes, 5 % more are 5,938, the fullest has 5,756.
  const TilePartition partition{.io_tiles = 2, .compute_tiles = 2};
  const GraphPlan graph{
      .name = "g",
      .tensors = {TensorOn("w", {.first = 2, .count = 2}, 1200, TensorKind::kConstant),
                  TensorOn("v", {.first = 2, .count = 1}, 200, TensorKind::kConstant)}};
  const MemoryPlan memory = PlanMemory({graph}, SmallTarget(4), partition, {});
  EXPECT_EQ(memory.tiles[2].total(), 1400 + kFixedBytes);
  EXPECT_EQ(memory.tiles[2].gap_bytes, 182U);
  EXPECT_EQ(memory.tiles[3].gap_bytes, 182U);
  EXPECT_EQ(memory.tiles[0].gap_bytes, 0U);
  EXPECT_EQ(NeededBytes(memory.tiles[3]), 1200 + kFixedBytes + 182);
}

TEST(PlanMemoryTest, TilesOverflowByTheirData) {
  // 10,000 bytes a tile: fixed 4,356, a weight 1,000, an output 300.
  EXPECT_TRUE(PlanMemory({Graph(1, 4344)}, SmallTarget(4), kFourTiles, {}).overflowing.empty());
  const std::vector<std::uint32_t> one = {1};
  EXPECT_EQ(PlanMemory({Graph(1, 4345)}, SmallTarget(4), kFourTiles, {}).overflowing, one);
  const std::vector<std::uint32_t> fullest_first = {2, 1, 3};
  EXPECT_EQ(
      PlanMemory({Graph(1, 5000), Graph(2, 6000), Graph(3, 5000)}, SmallTarget(4), kFourTiles, {})
          .overflowing,
      fullest_first);
}

TEST(PlanMemoryTest, TilesOverflowByTheirCode) {
  Target target = SmallTarget(4);
  target.sram_bytes_per_tile = 20000;
  GraphPlan graph = Graph(1, 400);
  Superstep step = StepOf(Phase::kCompute, {.first = 3, .count = 1});
  step.control_code_bytes = 7000 - (kFixedBytes - kStackBytes);
  graph.operators[0].steps = {step};
  EXPECT_TRUE(PlanMemory({graph}, target, kFourTiles, {}).overflowing.empty());
  ++graph.operators[0].steps[0].control_code_bytes;
  const std::vector<std::uint32_t> three = {3};
  EXPECT_EQ(PlanMemory({graph}, target, kFourTiles, {}).overflowing, three);
}

TEST(PlanMemoryTest, NoGraphs) {
  const MemoryPlan memory = PlanMemory({}, SmallTarget(4), kFourTiles, {});
  EXPECT_EQ(memory.tiles[3].total(), kFixedBytes);
  EXPECT_TRUE(memory.graph_bytes.empty());
  EXPECT_EQ(memory.shared_code_bytes, 0U);
}

}  // namespace
}  // namespace poprt::ipu
