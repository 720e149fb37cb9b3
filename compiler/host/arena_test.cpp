#include "compiler/host/arena.hpp"

#include <gtest/gtest.h>

#include <random>

#include "compiler/host/lifetimes.hpp"

namespace poprt::host {
namespace {

using lower::Buffer;
using lower::BufferId;
using lower::Schedule;

Buffer Activation(std::int64_t bytes) {
  return {.type = {ElementType::kUint8, {bytes}}, .constant = {}, .view_of = {}};
}

lower::Step Call(std::vector<BufferId> inputs, std::vector<BufferId> outputs) {
  return {.name = "n",
          .kernel = "k",
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .attributes = {}};
}

TEST(ArenaTest, ChainNeedsTwoBuffers) {
  Schedule schedule{.name = "chain",
                    .buffers = {Activation(64), Activation(64), Activation(64), Activation(64)},
                    .inputs = {{"x", 0}},
                    .outputs = {{"y", 3}},
                    .steps = {Call({0}, {1}), Call({1}, {2}), Call({2}, {3})}};
  EXPECT_EQ(PlanArena(schedule).bytes, 128U);
}

TEST(ArenaTest, ViewKeepsItsStorageAlive) {
  Schedule schedule{.name = "view",
                    .buffers = {Activation(64), Activation(64), Activation(64), Activation(64)},
                    .inputs = {{"x", 0}},
                    .outputs = {{"y", 3}},
                    .steps = {Call({0}, {2}), Call({1, 2}, {3})}};
  schedule.buffers[1].view_of = 0;
  const ArenaPlan plan = PlanArena(schedule);
  EXPECT_EQ(plan.bytes, 192U);
  EXPECT_EQ(plan.offsets[1], plan.offsets[0]);
}

TEST(ArenaTest, PartsAreAtTheirOffsets) {
  // 1 and 2 are the halves of 3, of which 4 is the second half again.
  Schedule schedule{
      .name = "parts",
      .buffers = {Activation(64), Activation(64), Activation(64), Activation(128), Activation(64)},
      .inputs = {{"x", 0}},
      .outputs = {{"y", 4}},
      .steps = {Call({0}, {1}), Call({0}, {2})}};
  for (const auto& [part, offset] : {std::pair{1, 0}, {2, 64}, {4, 64}}) {
    schedule.buffers[static_cast<std::size_t>(part)].view_of = 3;
    schedule.buffers[static_cast<std::size_t>(part)].view_offset =
        static_cast<std::uint64_t>(offset);
  }
  const ArenaPlan plan = PlanArena(schedule);
  EXPECT_EQ(plan.bytes, 192U);
  EXPECT_EQ(plan.offsets[1], plan.offsets[3]);
  EXPECT_EQ(plan.offsets[2], plan.offsets[3] + 64);
  EXPECT_EQ(plan.offsets[4], plan.offsets[3] + 64);
}

/// What lives to the end of a long chain, and much of it: too many pairs for the greedy placements.
TEST(ArenaTest, ManyLongLivesNeedNoMoreThanTheirSum) {
  Schedule schedule{.name = "long", .buffers = {Activation(64)}, .inputs = {{"x", 0}}};
  constexpr BufferId count = 5000;
  for (BufferId i = 1; i <= count; ++i) {
    schedule.buffers.push_back(Activation(64 * (i % 7 + 1)));
    schedule.steps.push_back(Call({i - 1}, {i}));
    schedule.outputs.push_back({"y" + std::to_string(i), i});
  }
  EXPECT_EQ(PlanArena(schedule).bytes, LargestLiveSet(schedule));
}

TEST(ArenaTest, ConstantsTakeNoArena) {
  Schedule schedule{.name = "constant",
                    .buffers = {Activation(64), Activation(64), Activation(64)},
                    .inputs = {{"x", 0}},
                    .outputs = {{"y", 2}},
                    .steps = {Call({0, 1}, {2})}};
  schedule.buffers[1].constant = Tensor(schedule.buffers[1].type);
  EXPECT_EQ(PlanArena(schedule).bytes, 128U);
}

/// Random chains with skips: no two buffers alive at one step may overlap.
TEST(ArenaTest, LiveBuffersNeverOverlap) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto draw = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(random);
    };
    Schedule schedule{
        .name = "random", .buffers = {}, .inputs = {{"x", 0}}, .outputs = {}, .steps = {}};
    schedule.buffers.push_back(Activation(draw(1, 1000)));
    for (int i = 1; i < 40; ++i) {
      schedule.buffers.push_back(Activation(draw(0, 1000)));
      schedule.steps.push_back(
          Call({static_cast<BufferId>(draw(0, i - 1)), static_cast<BufferId>(draw(0, i - 1))},
               {static_cast<BufferId>(i)}));
    }
    schedule.outputs = {{"y", 39}};
    const ArenaPlan plan = PlanArena(schedule);
    EXPECT_GE(plan.bytes, LargestLiveSet(schedule));
    EXPECT_LE(plan.bytes, LargestLiveSet(schedule) * 5 / 4);
    std::vector<std::int64_t> last(40, -1);
    for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
      for (BufferId id : schedule.steps[s].inputs) last[id] = static_cast<std::int64_t>(s);
    }
    for (std::size_t a = 0; a < 40; ++a) {
      EXPECT_LE(plan.offsets[a] + schedule.buffers[a].type.bytes(), plan.bytes);
      for (std::size_t b = a + 1; b < 40; ++b) {
        // Buffer b is written by step b - 1; a must be out of use before that to share memory.
        if (last[a] < static_cast<std::int64_t>(b) - 1) continue;
        const bool disjoint =
            plan.offsets[a] + schedule.buffers[a].type.bytes() <= plan.offsets[b] ||
            plan.offsets[b] + schedule.buffers[b].type.bytes() <= plan.offsets[a];
        EXPECT_TRUE(disjoint) << a << " and " << b;
      }
    }
  }
}

/// A step with bodies; of a loop if it has one.
lower::Step Control(std::vector<BufferId> inputs, std::vector<BufferId> outputs,
                    std::vector<lower::Body> bodies) {
  lower::Step step = Call(std::move(inputs), std::move(outputs));
  step.kernel = bodies.size() == 1 ? "Loop" : "If";
  step.bodies = std::move(bodies);
  return step;
}

TEST(ArenaTest, BranchesOfAnIfShareTheirMemory) {
  // 0: cond and input, 1: output; each branch has two temporaries.
  const auto body = [](BufferId a, BufferId b) {
    return lower::Body{.inputs = {}, .outputs = {b}, .steps = {Call({0}, {a}), Call({a}, {b})}};
  };
  Schedule schedule{.name = "if",
                    .buffers = std::vector<Buffer>(6, Activation(64)),
                    .inputs = {{"x", 0}},
                    .outputs = {{"y", 1}},
                    .steps = {Control({0}, {1}, {body(2, 3), body(4, 5)})}};
  EXPECT_EQ(PlanArena(schedule).bytes, 256U);
}

TEST(ArenaTest, WhatALoopReadsOfItsSurroundingsLivesThroughIt) {
  // 0: initial value, 1: carried, 2: iteration, 3: condition, 4: captured, read by the first step
  // of the body only, 5 and 6: temporaries.
  Schedule schedule{
      .name = "loop",
      .buffers = std::vector<Buffer>(7, Activation(64)),
      .inputs = {{"x", 0}, {"w", 4}},
      .outputs = {{"y", 1}},
      .steps = {Control(
          {lower::kNoBuffer, lower::kNoBuffer, 0}, {1},
          {{.inputs = {2, 3}, .outputs = {3, 6}, .steps = {Call({1, 4}, {5}), Call({5}, {6})}}})}};
  const ArenaPlan plan = PlanArena(schedule);
  for (const BufferId a : {0U, 1U, 2U, 3U, 4U}) {
    for (const BufferId b : {1U, 2U, 3U, 4U, 6U}) {
      if (a != b) {
        EXPECT_NE(plan.offsets[a], plan.offsets[b]) << a << ", " << b;
      }
    }
  }
}

}  // namespace
}  // namespace poprt::host
