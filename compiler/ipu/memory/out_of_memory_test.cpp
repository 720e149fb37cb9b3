#include "compiler/ipu/memory/out_of_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ipu/memory/graph_plan_for_test.hpp"
#include "compiler/ipu/memory/plan_memory.hpp"
#include "compiler/ipu/memory/remedies.hpp"
#include "compiler/ipu/memory/tile_contents.hpp"

namespace poprt::ipu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A product on `count` of 8 tiles from tile 1 on, of which each has 10,000 bytes, 4,356 of them
/// for what every program needs.
Plan Product(std::uint64_t activation, std::uint64_t temporaries, std::uint32_t count) {
  const TileRange tiles{.first = 1, .count = count};
  Superstep step = StepOf(Phase::kCompute, tiles);
  step.name = "calculate";
  step.temporary_bytes = temporaries;
  GraphPlan graph{.name = "bert",
                  .tensors = {TensorOn("w\n1", tiles, 1000, TensorKind::kConstant),
                              TensorOn("x", tiles, 40, TensorKind::kInput),
                              TensorOn("y", tiles, activation, TensorKind::kOutput)},
                  .operators = {OperatorOf("layer.0/MatMul", {0, 1}, {2}, {step})},
                  .samples = 8,
                  .same_first_axis = true};
  graph.operators[0].op = "MatMul";
  graph.operators[0].grid = "1 x 2 x 1";
  for (TensorPlan& tensor : graph.tensors) tensor.element_type = ElementType::kFloat16;
  Plan plan{.target = SmallTarget(8),
            .partition = {.io_tiles = 0, .compute_tiles = 8},
            .graphs = {WithLifetimes(std::move(graph))}};
  plan.memory = PlanMemory(plan.graphs, plan.target, plan.partition, plan.options);
  return plan;
}

TEST(OutOfMemoryTest, WhatFitsIsFine) {
  EXPECT_EQ(CheckMemory(Product(100, 100, 2)), absl::OkStatus());
}

TEST(OutOfMemoryTest, NamesTilesTensorsStepsAndWhatHelps) {
  const absl::Status status = CheckMemory(Product(2000, 3000, 2));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  // 4356 + 1000 + 40 + 2000 + 3000.
  EXPECT_EQ(
      std::string(status.message()),
      "Out of memory: Cannot fit all variable data onto one or more tiles.\n"
      "Out of memory on tile 1: 10396 bytes\n"
      "Out of memory on tile 2: 10396 bytes\n"
      "Tile 1 needs 10396 bytes of 10000: activations and temporaries 5040, constants 1000, "
      "vertex code 140, internal exchange code 50, host exchange 298, control code 700, "
      "stack 3168, gaps 0\n"
      "  always there: \"w\\n1\" 1000\n"
      "  fullest at operator \"layer.0/MatMul\" (MatMul) of graph \"bert\"\n"
      "  live then: \"y\" 2000, \"x\" 40\n"
      "  temporaries of its steps, one at a time: \"calculate\" 3000\n"
      "Tile 2: as tile 1\n"
      "What would help:\n"
      "- available_memory_proportion 0.26 instead of 0.60: \"layer.0/MatMul\" needs 3000 "
      "bytes of temporaries, 2604 would fit; no other operator of the graph needs "
      "too much\n"
      "- batch_size 6 instead of 8, where the model leaves the first axis of its inputs open "
      "and that is the batch: 2040 bytes of activations on the tile shrink with it, 396 are "
      "too many\n"
      "- auto_sharding 2, for 2 IPUs instead of 1: 1000 bytes of weights and code on the tile "
      "become about 500");
}

TEST(OutOfMemoryTest, EveryTileHasALineAndFiveAreExplained) {
  const std::string text(CheckMemory(Product(2000, 3000, 7)).message());
  for (int tile = 1; tile < 8; ++tile) {
    EXPECT_THAT(text,
                HasSubstr("\nOut of memory on tile " + std::to_string(tile) + ": 10396 bytes"));
  }
  EXPECT_THAT(text, HasSubstr("\nTile 5: as tile 4\n2 more tiles are too full\nWhat would help:"));
}

TEST(RemediesTest, TemporariesThatAreNotEnough) {
  EXPECT_THAT(RemediesFor(Product(4800, 200, 2))[0],
              HasSubstr("needs 200 bytes of temporaries when the tile is fullest: to do without "
                        "them is not enough"));
}

TEST(TileContentsTest, BytesAtEveryOperatorAddUpToThePeak) {
  Plan plan = Product(2000, 3000, 2);
  plan.graphs[0].operators.push_back(OperatorOf("next", {2}, {}, {}));
  plan.graphs[0].tensors[2].last = 1;
  EXPECT_THAT(BytesAtOperators(plan, 1), ElementsAre(5040, 2000));
  EXPECT_THAT(BytesAtOperators(plan, 0), ElementsAre(0, 0));
}

TEST(RemediesTest, Float32IsHalved) {
  Plan plan = Product(4800, 200, 2);
  for (TensorPlan& tensor : plan.graphs[0].tensors) tensor.element_type = ElementType::kFloat32;
  EXPECT_THAT(RemediesFor(plan)[1],
              "precision fp16: 5840 bytes on the tile are float32, half of that is enough");
}

TEST(RemediesTest, WeightsThatAreTooMuchAlone) {
  Plan plan = Product(100, 0, 2);
  plan.graphs[0].tensors[0].mapping.bytes_per_tile = 6000;
  plan.graphs[0].tensors[0].bytes = 12000;
  plan.memory = PlanMemory(plan.graphs, plan.target, plan.partition, plan.options);
  EXPECT_THAT(RemediesFor(plan),
              ElementsAre("smaller inputs are not enough: without the 140 bytes of activations and "
                          "temporaries the tile still needs 10356 bytes",
                          HasSubstr("2 IPUs instead of 1")));
}

TEST(RemediesTest, WhatIsLiveAtOneOperatorIsNotDivided) {
  EXPECT_EQ(RemediesFor(Product(3000, 3000, 2)).back(),
            "more IPUs alone are not enough: activations and temporaries of one operator need 6040 "
            "bytes of the tile");
}

TEST(RemediesTest, NoBatchIsNamedWhereFirstAxesDiffer) {
  Plan plan = Product(2000, 3000, 2);
  plan.graphs[0].same_first_axis = false;
  EXPECT_EQ(
      RemediesFor(plan)[1],
      "smaller inputs (input_shape): activations and temporaries need 5040 bytes of the tile, "
      "396 are too many");
}

/// Host buffers on 34 I/O tiles, 600 activations on each of the others.
Plan WithIoTiles(std::uint64_t buffer, std::uint64_t activation) {
  const TileRange compute{.first = 34, .count = 30};
  Plan plan{.target = SmallTarget(64), .partition = {.io_tiles = 34, .compute_tiles = 30}};
  plan.graphs = {WithLifetimes(
      {.name = "g",
       .tensors = {TensorOn("x", {.first = 0, .count = 34}, buffer, TensorKind::kInput),
                   TensorOn("a", compute, activation), TensorOn("y", compute, 10)},
       .operators = {OperatorOf("a", {0}, {1}, {}), OperatorOf("b", {1}, {2}, {})},
       .samples = 2})};
  plan.memory = PlanMemory(plan.graphs, plan.target, plan.partition, plan.options);
  return plan;
}

TEST(RemediesTest, FullIoTilesNeedMoreOfThem) {
  const std::vector<std::string> remedies = RemediesFor(WithIoTiles(5800, 100));
  ASSERT_FALSE(remedies.empty());
  // 34 * 5,800 bytes of buffers, room for 10,000 - 4,356 on a tile: 35, so 36.
  EXPECT_EQ(remedies[0],
            "num_io_tiles 36 instead of 34: 5800 bytes of host buffers lie on each I/O tile");
}

TEST(RemediesTest, EmptyIoTilesCanComputeInstead) {
  const std::vector<std::string> remedies = RemediesFor(WithIoTiles(10, 5500));
  ASSERT_GE(remedies.size(), 2U);
  EXPECT_THAT(remedies[1], HasSubstr("num_io_tiles 32 instead of 34 gives 2 tiles more to compute: "
                                     "about 647 bytes less on each, enough"));
}

TEST(RemediesTest, CodeThatIsTooMuch) {
  Plan plan = Product(100, 0, 2);
  plan.graphs[0].operators[0].steps[0].control_code_bytes = 6000;
  plan.options.enable_outlining = false;
  plan.memory = PlanMemory(plan.graphs, plan.target, plan.partition, plan.options);
  const std::string text(CheckMemory(plan).message());
  EXPECT_THAT(text, HasSubstr("\n  its code needs 7188 bytes of 7000 that can hold code\n"));
  EXPECT_THAT(text, HasSubstr("- less code: it needs 7188 bytes, and only 7000 bytes of a tile can "
                              "hold code. enable_outlining lets operators"));
}

}  // namespace
}  // namespace poprt::ipu
