#include "compiler/lower/in_place.hpp"

#include <gtest/gtest.h>

#include "compiler/lower/schedule_for_test.hpp"

namespace poprt::lower {
namespace {

/// x -> Exp -> Relu -> Neg, all of one size.
Schedule Chain() {
  return {.name = "m",
          .buffers = {Activation({8}), Activation({8}), Activation({8}), Activation({8})},
          .inputs = {{"x", 0}},
          .outputs = {{"y", 3}},
          .steps = {ElementwiseCall("Exp", {0}, 1), ElementwiseCall("Relu", {1}, 2),
                    ElementwiseCall("Neg", {2}, 3)}};
}

TEST(InPlaceTest, AChainRunsInTheMemoryOfItsFirstResult) {
  Schedule schedule = Chain();
  ComputeInPlace(schedule);
  EXPECT_EQ(schedule.Storage(1), 1U);  // the input of the graph stays
  EXPECT_EQ(schedule.Storage(2), 1U);
  EXPECT_EQ(schedule.Storage(3), 1U);
}

TEST(InPlaceTest, WhatIsReadLaterStays) {
  Schedule schedule = Chain();
  schedule.outputs.push_back({"z", 2});
  ComputeInPlace(schedule);
  EXPECT_EQ(schedule.Storage(2), 1U);
  EXPECT_EQ(schedule.Storage(3), 3U);
}

TEST(InPlaceTest, AViewThatIsReadLaterKeepsItsStorage) {
  Schedule schedule = Chain();
  schedule.buffers.push_back({.type = schedule.buffers[1].type, .constant = {}, .view_of = 1});
  schedule.outputs.push_back({"z", 4});
  ComputeInPlace(schedule);
  EXPECT_EQ(schedule.Storage(2), 2U);
  EXPECT_EQ(schedule.Storage(3), 2U);
}

TEST(InPlaceTest, KernelsThatDoNotSaySoGetOtherMemory) {
  Schedule schedule = Chain();
  schedule.steps[1].in_place_inputs.clear();
  ComputeInPlace(schedule);
  EXPECT_EQ(schedule.Storage(2), 2U);
  EXPECT_EQ(schedule.Storage(3), 2U);
}

TEST(InPlaceTest, OtherSizesAndPartsStay) {
  Schedule schedule = Chain();
  schedule.buffers[2] = Activation({4, 8});  // broadcast
  schedule.buffers[3] = Activation({4, 8});
  ComputeInPlace(schedule);
  EXPECT_EQ(schedule.Storage(2), 2U);
  EXPECT_EQ(schedule.Storage(3), 2U);

  schedule = Chain();
  schedule.buffers.push_back(Activation({32}));
  for (const BufferId part : {1U, 2U}) {
    schedule.buffers[part].view_of = 4;
    schedule.buffers[part].view_offset = (part - 1) * 64;
  }
  ComputeInPlace(schedule);
  EXPECT_EQ(schedule.Storage(2), 4U);
  EXPECT_EQ(schedule.buffers[2].view_offset, 64U);
  EXPECT_EQ(schedule.Storage(3), 3U);
}

TEST(InPlaceTest, BothOperandsMustBeAllowedToShare) {
  for (const bool both : {true, false}) {
    Schedule schedule = Chain();
    schedule.steps[1] = ElementwiseCall("Add", {1, 1}, 2);
    if (!both) schedule.steps[1].in_place_inputs = {0};
    ComputeInPlace(schedule);
    EXPECT_EQ(schedule.Storage(2), both ? 1U : 2U);
  }
}

TEST(InPlaceTest, ResidualIsOverwritten) {
  Schedule schedule = Chain();
  schedule.steps[2] = Call("gemm", {2, lower::kNoBuffer, lower::kNoBuffer, 1}, {3});
  schedule.steps[2].in_place_inputs = {3};
  ComputeInPlace(schedule);
  EXPECT_EQ(schedule.Storage(2), 2U);
  EXPECT_EQ(schedule.Storage(3), 1U);
}

TEST(InPlaceTest, CarriedValuesStay) {
  Schedule schedule = Chain();
  schedule.buffers.insert(schedule.buffers.end(), 3, Activation({8}));
  Step loop = Call("Loop", {kNoBuffer, kNoBuffer, 1}, {2});
  loop.bodies = {{.inputs = {4, 5}, .outputs = {5, 6}, .steps = {ElementwiseCall("Relu", {2}, 6)}}};
  schedule.steps[1] = loop;
  ComputeInPlace(schedule);
  EXPECT_EQ(schedule.Storage(2), 2U);
  EXPECT_EQ(schedule.Storage(3), 3U);
  EXPECT_EQ(schedule.Storage(6), 6U);
}

}  // namespace
}  // namespace poprt::lower
