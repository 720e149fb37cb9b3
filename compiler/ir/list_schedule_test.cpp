#include "compiler/ir/list_schedule.hpp"

#include <gtest/gtest.h>

namespace poprt::ir {
namespace {

using Order = std::vector<std::uint32_t>;

/// Two branches that widen and narrow again, both widened first, and an item that joins them.
/// Storage i + 1 is what item i writes, storage 0 what the first two read.
ListScheduleProblem TwoBranches() {
  return {.sources = {{}, {}, {0}, {1}, {2, 3}},
          .storages = {{0, 1}, {0, 2}, {1, 3}, {2, 4}, {3, 4, 5}},
          .stages = {},
          .bytes = {64, 6400, 6400, 64, 64, 64},
          .is_live = {true, false, false, false, false, false},
          .other_users = {0, 0, 0, 0, 0, 1}};
}

TEST(ListScheduleTest, BranchesAreFinishedOneByOne) {
  EXPECT_EQ(ListSchedule(TwoBranches()), (Order{0, 2, 1, 3, 4}));
}

TEST(ListScheduleTest, LowerStagesComeFirst) {
  ListScheduleProblem problem = TwoBranches();
  problem.stages = {0, 0, 1, 1, 1};
  EXPECT_EQ(ListSchedule(problem), (Order{0, 1, 2, 3, 4}));
}

TEST(ListScheduleTest, WhatIsKeptIsNoGain) {
  // Item 1 would free storage 0, were it not kept; so the smaller output goes first.
  ListScheduleProblem problem{.sources = {{}, {}},
                              .storages = {{1}, {0, 2}},
                              .stages = {},
                              .bytes = {1000, 10, 20},
                              .is_live = {true, false, false},
                              .other_users = {0, 1, 1}};
  EXPECT_EQ(ListSchedule(problem), (Order{1, 0}));
  problem.other_users[0] = 1;
  EXPECT_EQ(ListSchedule(problem), (Order{0, 1}));
}

TEST(ListScheduleTest, NothingIsNoOrder) { EXPECT_EQ(ListSchedule({}), Order{}); }

}  // namespace
}  // namespace poprt::ir
