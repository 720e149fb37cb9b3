#include "runtime/device/buffered_branch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "runtime/device/program_for_test.hpp"

namespace poprt::device {
namespace {

TEST(BufferedBranchTest, RandomProgramsComputeTheSameInBuffers) {
  const unsigned first = std::random_device()();
  for (unsigned seed = first; seed != first + 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::vector<Branch> branches{RandomBranch(seed).branch(),
                                       RandomBranch(seed + 1'000'000).branch()};
    const auto serial = Load(ProgramOf(branches, 0));
    const auto buffered = Load(ProgramOf(branches, 64));
    ASSERT_EQ(serial->num_stream_buffers(), 1U);
    ASSERT_EQ(buffered->num_stream_buffers(), 2U);
    std::mt19937 random(seed);
    std::vector<std::vector<std::byte>> expected;
    std::vector<std::size_t> which;
    std::vector<TestBatch> batches;
    for (int i = 0; i < 6; ++i) {
      which.push_back(random() % 2);
      TestBatch batch(branches[which.back()], random);
      serial->Run(which.back(), batch.input_pointers, batch.output_pointers, batch.extents);
      for (const auto& output : batch.outputs) expected.push_back(output);
      batches.emplace_back(branches[which.back()], random);
      for (std::size_t k = 0; k < batch.inputs.size(); ++k) {
        std::ranges::copy(batch.inputs[k], batches.back().inputs[k].begin());
      }
    }
    // As late and as early as the pipeline may: a batch is loaded as soon as the one before the
    // last has computed, and stored when the next one has.
    const auto load = [&](std::size_t i) {
      if (i < batches.size()) buffered->Load(i % 2, which[i], batches[i].input_pointers);
    };
    const auto store = [&](std::size_t i) {
      if (i < batches.size()) {
        buffered->Store(i % 2, which[i], batches[i].output_pointers, batches[i].extents);
      }
    };
    load(0);
    load(1);
    for (std::size_t i = 0; i < batches.size(); ++i) {
      buffered->Compute(i % 2, which[i], 0, nullptr);
      load(i + 2);
      if (i > 0) store(i - 1);
    }
    store(batches.size() - 1);
    std::vector<std::vector<std::byte>> found;
    for (const TestBatch& batch : batches) {
      for (const auto& output : batch.outputs) found.push_back(output);
    }
    ASSERT_EQ(found, expected);
  }
}

/// y = x - x + x, where y shares the bytes of x.
TEST(BufferedBranchTest, OnlyStreamsMove) {
  const Branch branch{.name = "branch",
                      .slots = {{Vector(2), Space::kArena, 0},
                                {Vector(2), Space::kArena, 128},
                                {Vector(2), Space::kArena, 0}},
                      .inputs = {{"x", 0}},
                      .outputs = {{"y", 2}},
                      .steps = {{"zero", "Sub", {0, 0}, {1}, {}}, {"y", "Add", {0, 1}, {2}, {}}},
                      .arena_bytes = 256};
  const StreamBuffers buffers(branch);
  EXPECT_EQ(buffers.input_bytes(), 128U);
  EXPECT_EQ(buffers.output_bytes(), 128U);
  const BufferedBranch placed = buffers.Place(1024, 2048);
  EXPECT_TRUE(placed.before.empty());
  EXPECT_TRUE(placed.after.empty());
  const auto offset = [&](SlotIndex slot) { return placed.branch.slots[slot].offset; };
  EXPECT_EQ(offset(placed.branch.inputs[0].slot), 1024U);
  EXPECT_EQ(offset(placed.branch.outputs[0].slot), 2048U);
  EXPECT_EQ(offset(placed.branch.steps[0].inputs[0]), 1024U);
  EXPECT_EQ(offset(placed.branch.steps[0].outputs[0]), 128U);
  EXPECT_EQ(offset(placed.branch.steps[1].inputs[0]), 1024U);
  EXPECT_EQ(offset(placed.branch.steps[1].inputs[1]), 128U);
  EXPECT_EQ(offset(placed.branch.steps[1].outputs[0]), 2048U);
}

TEST(BufferedBranchTest, AnInputThatIsAnOutputIsCopied) {
  const Branch branch{.name = "branch",
                      .slots = {{Vector(1), Space::kArena, 0}},
                      .inputs = {{"x", 0}},
                      .outputs = {{"y", 0}},
                      .steps = {},
                      .arena_bytes = 64};
  const BufferedBranch placed = StreamBuffers(branch).Place(1024, 2048);
  EXPECT_TRUE(placed.before.empty());
  ASSERT_EQ(placed.after.size(), 1U);
  EXPECT_EQ(placed.branch.slots[placed.after[0].from].offset, 1024U);
  EXPECT_EQ(placed.branch.slots[placed.after[0].to].offset, 2048U);
}

TEST(BufferedBranchTest, WhatBodiesUseIsCopiedToTheArena) {
  Step step{"if", "If", {0}, {2}, {}};
  step.bodies = {{.inputs = {}, .outputs = {2}, .steps = {{"negate", "Neg", {1}, {2}, {}}}},
                 {.inputs = {}, .outputs = {1}, .steps = {}}};
  const Branch branch{.name = "branch",
                      .slots = {{{ElementType::kBool, {}}, Space::kArena, 0},
                                {Vector(1), Space::kArena, 64},
                                {Vector(1), Space::kArena, 128}},
                      .inputs = {{"condition", 0}, {"x", 1}},
                      .outputs = {{"y", 2}},
                      .steps = {step},
                      .arena_bytes = 192};
  const StreamBuffers buffers(branch);
  EXPECT_EQ(buffers.input_bytes(), 128U);
  EXPECT_EQ(buffers.output_bytes(), 64U);
  const BufferedBranch placed = buffers.Place(1024, 2048);
  ASSERT_EQ(placed.before.size(), 2U);
  EXPECT_EQ(placed.branch.slots[placed.before[1].from].offset, 1088U);
  EXPECT_EQ(placed.branch.slots[placed.before[1].to].offset, 64U);
  ASSERT_EQ(placed.after.size(), 1U);
  EXPECT_EQ(placed.branch.slots[placed.after[0].from].offset, 128U);
  EXPECT_EQ(placed.branch.slots[placed.after[0].to].offset, 2048U);
}

}  // namespace
}  // namespace poprt::device
