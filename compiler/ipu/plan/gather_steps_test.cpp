#include "compiler/ipu/plan/gather_steps.hpp"

#include <gtest/gtest.h>

namespace poprt::ipu {
namespace {

constexpr std::uint64_t kTiles = 1472;

RowLookup Embedding(std::uint64_t rows, std::uint64_t columns, std::uint64_t lookups) {
  return {
      .rows = rows, .columns = columns, .lookups = lookups, .element = {ElementType::kFloat16, {}}};
}

LookupPlan Planned(const RowLookup& lookup, double proportion = 0.6) {
  PlanOptions options;
  options.available_memory_proportion = proportion;
  return PlanLookup(*FindTarget("ipu21"), options, kTiles, lookup);
}

TEST(GatherStepsTest, PlansKeepToTheTilesAndTheMemory) {
  for (const double proportion : {0.6, 0.3, 0.1}) {
    for (const std::uint64_t lookups : {1U, 2048U, 208000U, 1331200U}) {
      const LookupPlan plan = Planned(Embedding(260000, 32, lookups), proportion);
      EXPECT_LE(plan.tiles(), kTiles);
      EXPECT_GE(plan.tiles(), 1U);
      EXPECT_LE(plan.temporary_bytes, static_cast<std::uint64_t>(proportion * 638976)) << lookups;
    }
  }
}

TEST(GatherStepsTest, LessMemoryTakesLonger) {
  const RowLookup lookup = Embedding(260000, 32, 1331200);
  EXPECT_GT(Planned(lookup, 0.05).cycles, Planned(lookup, 0.6).cycles);
}

TEST(GatherStepsTest, MoreLookupsTakeLonger) {
  EXPECT_GT(Planned(Embedding(30522, 768, 16384)).cycles,
            2 * Planned(Embedding(30522, 768, 2048)).cycles);
}

TEST(GatherStepsTest, NoTileHoldsMoreOfATableThanItMay) {
  const RowLookup lookup = Embedding(200000, 64, 1);
  EXPECT_LE(Planned(lookup).table_bytes, 383385U);  // 0.6 of a tile
  EXPECT_LE(Planned(lookup, 0.03).table_bytes, 19169U);
}

TEST(GatherStepsTest, AddsWhatWasPlanned) {
  const Target target = *FindTarget("ipu21");
  const PlanOptions options;
  ProductPlanner planner(target, options, kTiles);
  StepBuilder steps(target, options, {0, kTiles}, planner);
  const RowLookup lookup = Embedding(30522, 768, 2048);
  const Placed result =
      AddLookup(steps, LookupKind::kSlice, lookup, {ElementType::kFloat16, {16, 128, 768}});
  ASSERT_FALSE(steps.steps().empty());
  EXPECT_EQ(steps.steps().back().vertex, "popops::MultiSlice");
  EXPECT_EQ(result.layout.stride, 1U);
  EXPECT_EQ(result.layout.run % 2, 0U);
  EXPECT_EQ(steps.held(), 0U);
}

}  // namespace
}  // namespace poprt::ipu
