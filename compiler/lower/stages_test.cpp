#include "compiler/lower/stages.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/lower/schedule_for_test.hpp"
#include "runtime/program/program.hpp"

namespace poprt::lower {
namespace {

Step In(std::uint32_t stage, Step step) {
  step.stage = stage;
  return step;
}

/// Kernels with their stages.
std::vector<std::string> Stages(Schedule schedule) {
  OrderByStage(schedule);
  std::vector<std::string> stages;
  for (const Step& step : schedule.steps) {
    stages.push_back(step.kernel + " " + std::to_string(step.stage));
  }
  return stages;
}

Schedule Of(std::size_t buffers, std::vector<Step> steps) {
  return {.name = "m",
          .buffers = std::vector<Buffer>(buffers, Activation({16})),
          .inputs = {{"x", 0}},
          .outputs = {{"y", static_cast<BufferId>(buffers - 1)}},
          .steps = std::move(steps)};
}

using Expected = std::vector<std::string>;

TEST(OrderByStageTest, StagesFollowEachOther) {
  const Schedule schedule = Of(5, {In(0, Call("Exp", {0}, {1})), In(1, Call("Neg", {1}, {2})),
                                   In(0, Call("Abs", {0}, {3})), In(1, Call("Add", {2, 3}, {4}))});
  EXPECT_EQ(Stages(schedule), (Expected{"Exp 0", "Abs 0", "Neg 1", "Add 1"}));
}

TEST(OrderByStageTest, NumbersHaveNoGaps) {
  const Schedule schedule = Of(4, {In(3, Call("Exp", {0}, {1})), In(3, Call("Neg", {1}, {2})),
                                   In(7, Call("Abs", {2}, {3}))});
  EXPECT_EQ(Stages(schedule), (Expected{"Exp 0", "Neg 0", "Abs 1"}));
}

TEST(OrderByStageTest, NoStepReadsWhatALaterStageWrites) {
  // As after a fusion that took the stage of the first of its nodes.
  const Schedule schedule = Of(5, {In(2, Call("Exp", {0}, {1})), In(0, Call("Neg", {0}, {2})),
                                   In(1, Call("Add", {1, 2}, {3})), In(0, Call("Abs", {3}, {4}))});
  EXPECT_EQ(Stages(schedule), (Expected{"Neg 0", "Exp 1", "Add 1", "Abs 1"}));
}

TEST(OrderByStageTest, WhatSaysNothingFollowsItsProducers) {
  const Schedule schedule = Of(5, {Call("Exp", {0}, {1}), In(1, Call("Neg", {1}, {2})),
                                   Call("Abs", {2}, {3}), In(2, Call("Relu", {3}, {4}))});
  EXPECT_EQ(Stages(schedule), (Expected{"Exp 0", "Neg 1", "Abs 1", "Relu 2"}));
}

/// Buffers 1 and 2 are the halves of 3, each written by another stage.
TEST(OrderByStageTest, PartsOfABufferAreLookedAtOneByOne) {
  Schedule schedule = Of(6, {In(1, Call("Neg", {0}, {2})), In(0, Call("Exp", {0}, {1})),
                             In(0, Call("Abs", {1}, {4})), In(0, Call("Relu", {3}, {5}))});
  schedule.buffers[3] = Activation({32});
  schedule.buffers[1].view_of = 3;
  schedule.buffers[2].view_of = 3;
  schedule.buffers[2].view_offset = 64;
  EXPECT_EQ(Stages(schedule), (Expected{"Exp 0", "Abs 0", "Neg 1", "Relu 1"}));
}

TEST(OrderByStageTest, ABodyReadsForItsStep) {
  Step choice = Call(std::string(program::kIf), {0}, {4});
  choice.bodies = {{.inputs = {}, .outputs = {3}, .steps = {Call("Abs", {1}, {3})}},
                   {.inputs = {}, .outputs = {2}, .steps = {}}};
  const Schedule schedule = Of(6, {In(1, Call("Exp", {0}, {1})), In(2, Call("Neg", {0}, {2})),
                                   choice, Call("Relu", {4}, {5})});
  EXPECT_EQ(Stages(schedule), (Expected{"Exp 0", "Neg 1", "If 1", "Relu 1"}));
}

}  // namespace
}  // namespace poprt::lower
