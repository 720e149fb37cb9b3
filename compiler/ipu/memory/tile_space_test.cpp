#include "compiler/ipu/memory/tile_space.hpp"

#include <gtest/gtest.h>

#include "compiler/ipu/memory/graph_plan_for_test.hpp"

namespace poprt::ipu {
namespace {

using Bytes = std::vector<std::uint64_t>;

TEST(TileSpaceTest, HasTheIpusThatOptionsOrOperatorsName) {
  GraphPlan graph{.name = "g", .operators = {OperatorOf("a", {}, {}, {})}};
  EXPECT_EQ(TilesOf({&graph, 1}, {.io_tiles = 1, .compute_tiles = 3}, {}).size(), 4U);
  PlanOptions options;
  options.num_ipus = 2;
  EXPECT_EQ(TilesOf({&graph, 1}, {.io_tiles = 1, .compute_tiles = 3}, options).size(), 8U);
  graph.operators[0].ipu = 2;
  EXPECT_EQ(TilesOf({&graph, 1}, {.io_tiles = 1, .compute_tiles = 3}, options).size(), 12U);
  graph.operators[0].ipu = 4000000000;
  EXPECT_EQ(TilesOf({&graph, 1}, {.io_tiles = 1, .compute_tiles = 3}, options).size(), 8U);
}

TEST(TileSpaceTest, TheLastTileHasTheRest) {
  TensorPlan tensor = TensorOn("t", {.first = 1, .count = 3}, 10);
  tensor.bytes = 24;
  EXPECT_EQ(BytesOnTile(tensor, 0), 0U);
  EXPECT_EQ(BytesOnTile(tensor, 1), 10U);
  EXPECT_EQ(BytesOnTile(tensor, 3), 4U);
  EXPECT_EQ(BytesOnTile(tensor, 4), 0U);
  tensor.bytes = 10;  // every tile has a copy
  EXPECT_EQ(BytesOnTile(tensor, 3), 10U);
  tensor.bytes = 30;
  EXPECT_EQ(BytesOnTile(tensor, 3), 10U);
}

TEST(TileSpaceTest, SumsOfRanges) {
  TileSums sums({.tiles_per_ipu = 4, .ipus = 2});
  sums.Add(0, {.first = 0, .count = 4}, 1);
  sums.Add(1, {.first = 3, .count = 1}, 7);
  TensorPlan tensor = TensorOn("t", {.first = 1, .count = 2}, 10);
  tensor.bytes = 15;
  sums.AddTensor(0, tensor, 2);
  EXPECT_EQ(sums.Sums(), (Bytes{1, 21, 11, 1, 0, 0, 0, 7}));
  sums.AddTensor(0, tensor, -2);
  EXPECT_EQ(sums.Sums(), (Bytes{1, 1, 1, 1, 0, 0, 0, 7}));
}

TEST(TileSpaceTest, WhatLiesBeyondTheIpuIsIgnored) {
  TileSums sums({.tiles_per_ipu = 2, .ipus = 2});
  sums.Add(0, {.first = 1, .count = 4000000000U}, 3);
  sums.Add(1, {.first = 2, .count = 1}, 5);
  sums.Add(2, {.first = 0, .count = 1}, 5);
  EXPECT_EQ(sums.Sums(), (Bytes{0, 3, 0, 0}));
}

}  // namespace
}  // namespace poprt::ipu
