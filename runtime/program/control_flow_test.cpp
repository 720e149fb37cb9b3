#include "runtime/program/control_flow.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/program/executable_payload.hpp"

namespace poprt::program {
namespace {

const TensorType kTruth{ElementType::kBool, {}};
const TensorType kNumber{ElementType::kInt64, {}};
const TensorType kVector{ElementType::kFloat32, {4}};

/// Slots 0 to 9, each in 64 bytes of its own: cond, next cond, trip count, iteration, then vectors,
/// and slot 10, which has room for three stacked vectors.
Branch Slots() {
  Branch branch;
  branch.name = "b";
  branch.arena_bytes = 12 * 64;
  for (std::uint64_t i = 0; i < 10; ++i) {
    const TensorType& type = i < 2 ? kTruth : i < 4 ? kNumber : kVector;
    branch.slots.push_back({type, Space::kArena, i * 64});
  }
  branch.slots.push_back({{ElementType::kFloat32, {3, 4}}, Space::kArena, 10 * 64});
  branch.inputs = {{"cond", 0}, {"n", 2}, {"x", 4}};
  branch.outputs = {{"y", 5}};
  return branch;
}

Program If() {
  Branch branch = Slots();
  Step step{.name = "choice", .kernel = "If", .inputs = {0}, .outputs = {5}, .attributes = {}};
  step.bodies = {{.inputs = {}, .outputs = {5}, .steps = {{"relu", "Relu", {4}, {5}, {}}}},
                 {.inputs = {}, .outputs = {6}, .steps = {{"neg", "Neg", {4}, {6}, {}}}}};
  branch.steps = {step};
  return {.branches = {branch},
          .batches_per_step = 1,
          .ipu_version = "ipu2",
          .tiles = 0,
          .io_tiles = 0};
}

/// Carries slot 5, which starts as x and is negated every time; stacks what it was.
Program Loop() {
  Branch branch = Slots();
  Step step{.name = "loop",
            .kernel = "Loop",
            .inputs = {2, kNoSlot, 4},
            .outputs = {5, 10},
            .attributes = {}};
  step.bodies = {{.inputs = {3, 1}, .outputs = {1, 6, 5}, .steps = {{"neg", "Neg", {5}, {6}, {}}}}};
  branch.steps = {step};
  return {.branches = {branch},
          .batches_per_step = 1,
          .ipu_version = "ipu2",
          .tiles = 0,
          .io_tiles = 0};
}

std::string ProblemOf(Program program, const std::function<void(Step&, Branch&)>& change) {
  change(program.branches[0].steps[0], program.branches[0]);
  return FindProblem(program, 0);
}

TEST(ControlFlowProgram, SoundOnesPass) {
  EXPECT_EQ(FindProblem(If(), 0), "");
  EXPECT_EQ(FindProblem(Loop(), 0), "");
}

TEST(ControlFlowProgram, SurvivesThePayload) {
  const std::string head = SerializeHead(Loop(), 0);
  std::vector<std::byte> bytes(head.size() + 64);
  void* start = bytes.data();
  std::size_t room = bytes.size();
  std::align(64, head.size(), start, room);
  std::memcpy(start, head.data(), head.size());
  const Payload payload = ParsePayload({static_cast<const std::byte*>(start), head.size()});
  const Step& step = payload.program.branches[0].steps[0];
  ASSERT_EQ(step.bodies.size(), 1U);
  EXPECT_EQ(step.bodies[0].inputs, (std::vector<SlotIndex>{3, 1}));
  EXPECT_EQ(step.bodies[0].outputs, (std::vector<SlotIndex>{1, 6, 5}));
  ASSERT_EQ(step.bodies[0].steps.size(), 1U);
  EXPECT_EQ(step.bodies[0].steps[0].kernel, "Neg");
}

TEST(ControlFlowProgram, RefusesBodiesThatDoNotFit) {
  EXPECT_EQ(ProblemOf(If(), [](Step& step, Branch&) { step.kernel = "Relu"; }),
            "branch 'b': step 'choice' has bodies, which only If and Loop may have");
  EXPECT_EQ(ProblemOf(If(), [](Step& step, Branch&) { step.bodies.pop_back(); }),
            "branch 'b': step 'choice' has 1 bodies");
  EXPECT_EQ(ProblemOf(If(), [](Step& step, Branch&) { step.inputs = {}; }),
            "branch 'b': step 'choice' has 0 inputs");
  EXPECT_EQ(ProblemOf(If(), [](Step& step, Branch&) { step.inputs = {2}; }),
            "branch 'b': step 'choice' has the condition int64[], it must be bool[]");
  EXPECT_EQ(ProblemOf(If(), [](Step& step, Branch&) { step.inputs = {kNoSlot}; }),
            "branch 'b': step 'choice' has no condition");
  EXPECT_EQ(ProblemOf(If(), [](Step& step, Branch&) { step.bodies[1].outputs = {}; }),
            "branch 'b': step 'choice' has a body with 0 outputs");
  EXPECT_EQ(ProblemOf(If(), [](Step& step, Branch&) { step.bodies[1].outputs = {11}; }),
            "branch 'b': step 'choice' has a body that uses slot 11 of 11");
  EXPECT_EQ(ProblemOf(If(), [](Step& step, Branch&) { step.bodies[1].outputs = {kNoSlot}; }),
            "branch 'b': step 'choice' has a body that uses slot 4294967295 of 11");
  EXPECT_EQ(ProblemOf(If(), [](Step& step, Branch&) { step.bodies[1].outputs = {10}; }),
            "branch 'b': step 'choice' copies float32[3, 4] to float32[4]");
  EXPECT_EQ(ProblemOf(If(),
                      [](Step& step, Branch& branch) {
                        branch.slots.push_back({{ElementType::kFloat32, {4}}, Space::kArena, 320});
                        branch.slots[5].type = {ElementType::kFloat32, {20}};
                        branch.slots[6] = {{ElementType::kFloat32, {20}}, Space::kArena, 384};
                        step.bodies[0].steps.clear();
                        step.bodies[1].steps.clear();
                      }),
            "branch 'b': step 'choice' copies results over each other");
}

TEST(ControlFlowProgram, RefusesLoopsThatDoNotFit) {
  EXPECT_EQ(ProblemOf(Loop(), [](Step& step, Branch&) { step.inputs = {2}; }),
            "branch 'b': step 'loop' has 1 inputs");
  EXPECT_EQ(ProblemOf(Loop(), [](Step& step, Branch&) { step.inputs[0] = 0; }),
            "branch 'b': step 'loop' has the trip count bool[], it must be int64[]");
  EXPECT_EQ(ProblemOf(Loop(), [](Step& step, Branch&) { step.inputs[2] = kNoSlot; }),
            "branch 'b': step 'loop' carries a value without a slot");
  EXPECT_EQ(ProblemOf(Loop(), [](Step& step, Branch&) { step.outputs[0] = kNoSlot; }),
            "branch 'b': step 'loop' carries a value without a slot");
  EXPECT_EQ(ProblemOf(Loop(),
                      [](Step& step, Branch&) {
                        step.inputs = {2, 0, 4, 4, 4};
                      }),
            "branch 'b': step 'loop' has fewer outputs than it carries values");
  EXPECT_EQ(ProblemOf(Loop(), [](Step& step, Branch&) { step.bodies[0].inputs = {3}; }),
            "branch 'b': step 'loop' has a body with 1 inputs");
  EXPECT_EQ(ProblemOf(Loop(),
                      [](Step& step, Branch&) {
                        step.bodies[0].inputs = {2, 1};
                      }),
            "branch 'b': step 'loop' writes to memory of another of its operands");
  EXPECT_EQ(ProblemOf(Loop(), [](Step& step, Branch&) { step.bodies[0].outputs[0] = 4; }),
            "branch 'b': step 'loop' has the next condition float32[4], it must be bool[]");
  EXPECT_EQ(ProblemOf(Loop(), [](Step& step, Branch&) { step.bodies[0].outputs[1] = 10; }),
            "branch 'b': step 'loop' copies float32[3, 4] to float32[4]");
  EXPECT_EQ(ProblemOf(Loop(), [](Step& step, Branch&) { step.bodies[0].outputs[2] = 10; }),
            "branch 'b': step 'loop' copies float32[3, 4] to float32[4]");
  EXPECT_EQ(ProblemOf(Loop(), [](Step&, Branch& branch) { branch.slots[10].type.shape = {}; }),
            "branch 'b': step 'loop' stacks slices in a scalar");
  EXPECT_EQ(ProblemOf(Loop(),
                      [](Step&, Branch& branch) {
                        branch.slots[1].space = Space::kWeights;
                        branch.slots[1].offset = 0;
                        branch.slots[1].type = kTruth;
                      }),
            "branch 'b': slot 1 spans 1 bytes from offset 0, beyond the 0 bytes of the weights");
}

TEST(ControlFlowProgram, ChecksStepsInsideSteps) {
  EXPECT_EQ(ProblemOf(If(), [](Step& step, Branch&) { step.bodies[1].steps[0].inputs = {99}; }),
            "branch 'b': step 'neg' uses slot 99 of 11");
  const auto write_beyond_input = [](Step& step, Branch& branch) {
    branch.slots.push_back(branch.slots[4]);
    branch.slots.back().type.shape.push_back(2);
    branch.arena_bytes += branch.slots.back().type.bytes();
    step.bodies[1].steps[0].outputs = {static_cast<SlotIndex>(branch.slots.size() - 1)};
  };
  EXPECT_EQ(ProblemOf(If(), write_beyond_input),
            "branch 'b': step 'neg' writes to memory of another of its operands");
}

TEST(ControlFlowProgram, BoundsTheNesting) {
  Program program = If();
  std::vector<Step>& steps = program.branches[0].steps;
  for (int i = 1; i < kMostNesting; ++i) {
    Step outer = steps[0];
    outer.bodies[0].steps = steps;
    steps = {outer};
  }
  EXPECT_EQ(FindProblem(program, 0), "");
  Step outer = steps[0];
  outer.bodies[0].steps = steps;
  steps = {outer};
  EXPECT_EQ(FindProblem(program, 0), "branch 'b': steps stand inside steps more than 32 deep");
}

}  // namespace
}  // namespace poprt::program
