#include "compiler/ipu/plan/rearrangement.hpp"

#include <gtest/gtest.h>

#include "compiler/ipu/cost/copy.hpp"

namespace poprt::ipu {
namespace {

const TileRange kTiles{0, 1472};

TensorType Half(Shape shape) { return {ElementType::kFloat16, std::move(shape)}; }

class RearrangementTest : public testing::Test {
 protected:
  RearrangementTest()
      : target_(*FindTarget("ipu21")),
        planner_(target_, options_, kTiles.count),
        steps_(target_, options_, kTiles, planner_) {}

  Layout Grouped(const TensorType& type, std::uint64_t group) const {
    const auto extent = static_cast<std::uint64_t>(type.shape.back());
    return GridLayout(kTiles, type, {.extent = extent, .group = group, .parts = 46, .others = 32});
  }

  std::uint64_t Cycles() const {
    std::uint64_t sum = 0;
    for (const Superstep& step : steps_.steps()) sum += step.cycles;
    return sum;
  }

  Target target_;
  PlanOptions options_;
  ProductPlanner planner_;
  StepBuilder steps_;
};

TEST_F(RearrangementTest, WholeVectorsInOrderAreReceivedInTheirPlace) {
  const TensorType type = Half({2048, 768});
  const Layout to = Grouped(type, 16);
  Layout from = to;
  from.signature = MixSignature(to.signature, 1);
  const Placed moved = Rearrange(steps_, "x", {type, from}, to);
  ASSERT_EQ(steps_.steps().size(), 1U);
  EXPECT_EQ(steps_.steps()[0].phase, Phase::kExchange);
  EXPECT_TRUE(SamePlace(moved.layout, to));
  Move(steps_, "x", moved, to);
  EXPECT_EQ(steps_.steps().size(), 1U);
}

TEST_F(RearrangementTest, NothingMovesInItsPlace) {
  const TensorType type = Half({2048, 768});
  const Layout layout = LinearLayout(target_, kTiles, type);
  const Placed moved = Rearrange(steps_, "x", {type, layout}, layout);
  EXPECT_TRUE(steps_.steps().empty());
  EXPECT_TRUE(SamePlace(moved.layout, layout));
}

TEST_F(RearrangementTest, ConstantsAreLaidOutBefore) {
  const TensorType type = Half({2048, 768});
  Rearrange(steps_, "w", {type, LinearLayout(target_, kTiles, type), true}, Grouped(type, 16));
  EXPECT_TRUE(steps_.steps().empty());
}

TEST_F(RearrangementTest, WhatStandsTogetherDecidesThePrice) {
  // 768 is a multiple of the group, 729 is not: its rows begin anywhere in a word.
  const TensorType even = Half({2048, 768});
  Rearrange(steps_, "even", {even, Grouped(even, 16)}, LinearLayout(target_, kTiles, even));
  ASSERT_EQ(steps_.steps().size(), 2U);
  EXPECT_EQ(steps_.steps()[0].phase, Phase::kExchange);
  const Superstep copy = steps_.steps()[1];
  EXPECT_EQ(copy.phase, Phase::kCopy);
  const std::uint64_t bytes = copy.bytes / copy.tiles.count;
  EXPECT_EQ(copy.cycles, CopyCycles(target_, bytes, 32));

  StepBuilder odd_steps(target_, options_, kTiles, planner_);
  const TensorType odd = Half({2048, 729});
  Rearrange(odd_steps, "odd", {odd, Grouped(odd, 16)}, LinearLayout(target_, kTiles, odd));
  const Superstep& strided = odd_steps.steps()[1];
  EXPECT_EQ(strided.cycles, CopyCycles(target_, strided.bytes / strided.tiles.count, 2));
  EXPECT_GT(strided.cycles, 5 * copy.cycles);
}

TEST_F(RearrangementTest, TransposingWholeVectorsHasVerticesOfItsOwn) {
  const TensorType type = Half({1024, 768});
  Layout columns = Grouped(type, 16);
  columns.stride = 768;
  Rearrange(steps_, "x", {type, Grouped(type, 16)}, columns);
  ASSERT_FALSE(steps_.steps().empty());
  EXPECT_EQ(steps_.steps().back().vertex, "popops::Transpose2d");
}

TEST_F(RearrangementTest, TheMovedTensorIsATemporary) {
  const TensorType type = Half({2048, 768});
  const Layout to = LinearLayout(target_, kTiles, type);
  Rearrange(steps_, "x", {type, Grouped(type, 16)}, to);
  EXPECT_EQ(steps_.steps().back().temporary_bytes, 2 * to.mapping.bytes_per_tile);
  EXPECT_EQ(steps_.held(), to.mapping.bytes_per_tile);
}

}  // namespace
}  // namespace poprt::ipu
