#include "compiler/ipu/memory/liveness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "compiler/ipu/memory/graph_plan_for_test.hpp"

namespace poprt::ipu {
namespace {

using Bytes = std::vector<std::uint64_t>;
using Operators = std::vector<std::uint32_t>;

constexpr TileSpace kFourTiles{.tiles_per_ipu = 4};

Superstep Temporary(std::uint64_t bytes, TileRange tiles) {
  Superstep step = StepOf(Phase::kCompute, tiles);
  step.temporary_bytes = bytes;
  return step;
}

/// x on all tiles -> a on two -> b on all -> y on one; 4 tiles.
GraphPlan Chain() {
  GraphPlan graph{.name = "chain",
                  .tensors = {TensorOn("x", {.first = 0, .count = 4}, 10, TensorKind::kInput),
                              TensorOn("a", {.first = 1, .count = 2}, 100),
                              TensorOn("b", {.first = 0, .count = 4}, 5),
                              TensorOn("y", {.first = 3, .count = 1}, 50, TensorKind::kOutput)},
                  .operators = {OperatorOf("0", {0}, {1}, {}),
                                OperatorOf("1", {1}, {2},
                                           {Temporary(30, {.first = 1, .count = 2}),
                                            Temporary(40, {.first = 2, .count = 1})}),
                                OperatorOf("2", {2}, {3}, {})}};
  graph.tensors[0].bytes = 38;
  return WithLifetimes(std::move(graph));
}

Bytes BytesOfPoints(const GraphLiveness& liveness) {
  Bytes bytes;
  for (const LivenessPoint& point : liveness.points) bytes.push_back(point.bytes);
  return bytes;
}

Bytes FullestOfPoints(const GraphLiveness& liveness) {
  Bytes bytes;
  for (const LivenessPoint& point : liveness.points) bytes.push_back(point.fullest_tile);
  return bytes;
}

TEST(LivenessTest, SumsByHand) {
  const GraphLiveness liveness = FindLiveness(Chain(), kFourTiles);
  // Operator 0: x 10 10 10 8, a - 100 100 -.
  // Operator 1: a - 100 100 -, b 5 5 5 5, temporaries - 30 40 -.
  // Operator 2: b 5 5 5 5, y - - - 50.
  EXPECT_EQ(BytesOfPoints(liveness), (Bytes{238, 290, 70}));
  EXPECT_EQ(FullestOfPoints(liveness), (Bytes{110, 145, 55}));
  EXPECT_EQ(liveness.peak, (Bytes{10, 135, 145, 55}));
  EXPECT_EQ(liveness.peak_operator, (Operators{0, 1, 1, 2}));
}

TEST(LivenessTest, WeightsAreNotPartOfIt) {
  GraphPlan graph = Chain();
  graph.tensors[1].kind = TensorKind::kConstant;
  EXPECT_EQ(FindLiveness(graph, kFourTiles).peak, (Bytes{10, 35, 45, 55}));
}

TEST(LivenessTest, AViewKeepsTheMemoryOfItsTensor) {
  GraphPlan graph = Chain();
  graph.tensors[2].storage = 1;  // b is computed in place of a
  const GraphLiveness liveness = FindLiveness(graph, kFourTiles);
  EXPECT_EQ(BytesOfPoints(liveness), (Bytes{238, 270, 250}));
  EXPECT_EQ(liveness.peak, (Bytes{10, 130, 140, 50}));
}

TEST(LivenessTest, HostBuffersOnIoTilesStay) {
  GraphPlan graph = Chain();
  const TileSpace space{.tiles_per_ipu = 4, .io_tiles = 1};
  graph.tensors[0].mapping = {.tiles = {.first = 0, .count = 1}, .bytes_per_tile = 38};
  const GraphLiveness liveness = FindLiveness(graph, space);
  EXPECT_EQ(BytesOfPoints(liveness), (Bytes{238, 290 + 38, 70 + 38}));
  EXPECT_EQ(liveness.peak, (Bytes{43, 135, 145, 55}));
}

TEST(LivenessTest, EveryIpuThatUsesATensorHasIt) {
  GraphPlan graph = Chain();
  graph.operators[1].ipu = 1;
  graph.operators[2].ipu = 1;
  const GraphLiveness liveness = FindLiveness(graph, {.tiles_per_ipu = 4, .ipus = 2});
  EXPECT_EQ(liveness.peak, (Bytes{10, 110, 110, 8, 5, 135, 145, 55}));
}

/// Against sums tile by tile and operator by operator.
TEST(LivenessTest, RandomGraphsAsByDefinition) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto draw = [&](std::uint32_t low, std::uint32_t high) {
      return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
    };
    const std::uint32_t tiles = draw(1, 20);
    const auto draw_range = [&] {
      const std::uint32_t first = draw(0, tiles - 1);
      return TileRange{first, draw(1, tiles - first)};
    };
    GraphPlan graph{.name = "random"};
    for (std::uint32_t i = 0; i < 15; ++i) {
      graph.operators.push_back(
          OperatorOf(std::to_string(i), {}, {},
                     {Temporary(draw(0, 50), draw_range()), Temporary(draw(0, 50), draw_range())}));
    }
    for (std::uint32_t i = 0; i < 40; ++i) {
      TensorPlan tensor = TensorOn(std::to_string(i), draw_range(), draw(0, 100));
      tensor.bytes -= std::min<std::uint64_t>(tensor.bytes, draw(0, 20));
      tensor.first = draw(0, 14);
      tensor.last = draw(static_cast<std::uint32_t>(tensor.first), 14);
      graph.tensors.push_back(tensor);
    }
    const GraphLiveness liveness = FindLiveness(graph, {.tiles_per_ipu = tiles});
    Bytes peak(tiles, 0);
    for (std::size_t op = 0; op < 15; ++op) {
      std::uint64_t sum = 0;
      for (std::uint32_t t = 0; t < tiles; ++t) {
        std::uint64_t bytes = 0;
        for (const Superstep& step : graph.operators[op].steps) {
          const bool runs = t >= step.tiles.first && t < step.tiles.first + step.tiles.count;
          if (runs) bytes = std::max(bytes, step.temporary_bytes);
        }
        for (const TensorPlan& tensor : graph.tensors) {
          if (tensor.first <= op && op <= tensor.last) bytes += BytesOnTile(tensor, t);
        }
        sum += bytes;
        peak[t] = std::max(peak[t], bytes);
      }
      EXPECT_EQ(liveness.points[op].bytes, sum) << op;
    }
    EXPECT_EQ(liveness.peak, peak);
  }
}

}  // namespace
}  // namespace poprt::ipu
