#include "compiler/ipu/memory/choose_io_tiles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ipu/memory/graph_plan_for_test.hpp"

namespace poprt::ipu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A graph whose work is divided among the compute tiles and whose copies by the I/O tiles.
GraphPlan GraphFor(const TilePartition& partition, std::uint64_t work, std::uint64_t io_bytes) {
  Superstep compute = StepOf(Phase::kCompute);
  compute.cycles = work / partition.compute_tiles;
  GraphPlan graph{.name = "g",
                  .operators = {OperatorOf("a", {}, {}, {compute})},
                  .samples = 8,
                  .input_bytes = io_bytes};
  if (partition.io_tiles > 0) {
    Superstep copy = StepOf(Phase::kIoToCompute);
    copy.cycles = io_bytes / (std::uint64_t{4} * partition.io_tiles);  // 4 bytes a cycle
    graph.operators[0].steps.push_back(copy);
  }
  return graph;
}

class ChooseIoTilesTest : public ::testing::Test {
 protected:
  ChooseIoTilesTest()
      : target_(FindTarget("ipu21").value()), platform_(FindPlatform(target_, "c600").value()) {
    options_.batches_per_step = 128;
  }

  IoTileChoice Choose(std::uint64_t work, std::uint64_t io_bytes) {
    tried_.clear();
    return ChooseIoTiles(
               target_, platform_, options_,
               [&](const TilePartition& partition) -> absl::StatusOr<std::vector<GraphPlan>> {
                 tried_.push_back(partition.io_tiles);
                 return std::vector{GraphFor(partition, work, io_bytes)};
               })
        .value();
  }

  Target target_;
  Platform platform_;
  PlanOptions options_;
  std::vector<std::uint32_t> tried_;
};

TEST_F(ChooseIoTilesTest, TheDocumentedRule) {
  EXPECT_EQ(DocumentedIoTiles(target_, 0), 32U);
  EXPECT_EQ(DocumentedIoTiles(target_, std::uint64_t{638976} * 32), 32U);
  EXPECT_EQ(DocumentedIoTiles(target_, std::uint64_t{638976} * 32 + 1), 64U);
  EXPECT_EQ(DocumentedIoTiles(target_, std::uint64_t{638976} * 2000), 2048U);
}

TEST_F(ChooseIoTilesTest, HeavyComputeTakesFew) {
  // 6 ms of compute hide 1.2 ms of transfers; every further I/O tile is missed.
  const IoTileChoice choice = Choose(std::uint64_t{9000000} * 1472, 10000000);
  EXPECT_EQ(choice.io_tiles, 32U);
  EXPECT_THAT(tried_, ElementsAre(0, 32, 64, 96));
  EXPECT_THAT(choice.reason, StartsWith("num_io_tiles auto: 32\n  0 I/O tiles: "));
  EXPECT_THAT(choice.reason, HasSubstr("\n  32 I/O tiles: "));
  EXPECT_THAT(choice.reason,
              HasSubstr("\n  documented rule: 32 (10000000 bytes of inputs and outputs over 638976 "
                        "of a tile, next power of two, at least 32)"));
}

TEST_F(ChooseIoTilesTest, HeavyTransfersTakeMany) {
  // Copies between I/O and compute tiles are what more I/O tiles make faster.
  const IoTileChoice choice = Choose(std::uint64_t{100000} * 1472, 10000000);
  EXPECT_EQ(choice.io_tiles, 192U);
  EXPECT_THAT(tried_, ElementsAre(0, 32, 64, 96, 128, 192));
}

TEST_F(ChooseIoTilesTest, NoTransfersTakeNone) {
  const IoTileChoice choice = Choose(std::uint64_t{1000000} * 1472, 64);
  EXPECT_EQ(choice.io_tiles, 0U);
  EXPECT_THAT(choice.reason,
              StartsWith("num_io_tiles auto: 0, overlapping transfers does not pay\n"));
}

TEST_F(ChooseIoTilesTest, BuffersMustFit) {
  // 60 MB are 94 tiles' memory.
  const IoTileChoice choice = Choose(std::uint64_t{12000000} * 1472, 60000000);
  EXPECT_EQ(choice.io_tiles, 96U);
  EXPECT_THAT(choice.reason, HasSubstr("\n  64 I/O tiles: the host buffers do not fit"));
  EXPECT_THAT(choice.reason, HasSubstr("documented rule: 128 "));
  EXPECT_THAT(tried_, ElementsAre(0, 96, 128, 160));
}

TEST_F(ChooseIoTilesTest, WhatDoesNotFitIsWorseThanAllThatFits) {
  const auto plan = [&](const TilePartition& partition) -> absl::StatusOr<std::vector<GraphPlan>> {
    GraphPlan graph = GraphFor(partition, std::uint64_t{9000000} * 1472, 10000000);
    if (partition.io_tiles > 0) {
      graph.tensors.push_back(
          TensorOn("w", {.first = 500, .count = 1}, 700000, TensorKind::kConstant));
    }
    return std::vector{graph};
  };
  const IoTileChoice choice = ChooseIoTiles(target_, platform_, options_, plan).value();
  EXPECT_EQ(choice.io_tiles, 0U);
  EXPECT_THAT(choice.reason, HasSubstr("samples/s, out of memory\n"));
}

TEST_F(ChooseIoTilesTest, AStepOfTwoBatchesCanNotOverlap) {
  options_.batches_per_step = 2;
  const IoTileChoice choice = Choose(1, 1);
  EXPECT_EQ(choice.io_tiles, 0U);
  EXPECT_THAT(tried_, ElementsAre());
  EXPECT_EQ(choice.reason,
            "num_io_tiles auto: 0, since batches_per_step is 2 and overlapping transfers takes at "
            "least 3");
}

TEST_F(ChooseIoTilesTest, ErrorsOfThePlannerAreReturned) {
  const auto plan = [](const TilePartition& partition) -> absl::StatusOr<std::vector<GraphPlan>> {
    if (partition.io_tiles == 32) return absl::InternalError("no plan");
    return std::vector<GraphPlan>(1);
  };
  EXPECT_EQ(ChooseIoTiles(target_, platform_, options_, plan).status(),
            absl::InternalError("no plan"));
}

}  // namespace
}  // namespace poprt::ipu
