#include "runtime/device/buffered_branch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "runtime/device/model_device.hpp"

namespace poprt::device {
namespace {

using program::Body;
using program::Branch;
using program::kSlotAlignment;
using program::Program;
using program::Slot;
using program::SlotIndex;
using program::Space;
using program::Step;

constexpr std::size_t kUnitFloats = kSlotAlignment / sizeof(float);
using Floats = std::vector<float>;

TensorType Vector(std::size_t units) {
  return {ElementType::kFloat32, {static_cast<std::int64_t>(units * kUnitFloats)}};
}

Program ProgramOf(std::vector<Branch> branches, std::uint32_t io_tiles) {
  return {.branches = std::move(branches),
          .batches_per_step = 1,
          .ipu_version = "ipu2",
          .tiles = 1472,
          .io_tiles = io_tiles};
}

std::unique_ptr<LoadedProgram> Load(const Program& program) {
  EXPECT_EQ(program::FindProblem(program, 0), "");
  return MakeModelDevice(0)->Load(std::make_shared<Image>(
      Image{.owner = nullptr, .payload = {.program = program, .weights = {}}}));
}

/// A branch that shares the bytes of a small arena in every way that is allowed: views and parts of
/// tensors, tensors joined of others, in place, one after the other; with inputs that are outputs.
class RandomBranch {
 public:
  explicit RandomBranch(unsigned seed) : random_(seed) {
    branch_.name = "branch" + std::to_string(seed);
    branch_.arena_bytes = kUnits * kSlotAlignment;
    branch_.slots.push_back({{ElementType::kBool, {}}, Space::kArena, kUnits * kSlotAlignment});
    branch_.arena_bytes += kSlotAlignment;
    branch_.inputs.push_back({"condition", 0});
    for (std::size_t i = 0; i < 1 + Below(3); ++i) {
      branch_.inputs.push_back({"x" + std::to_string(i), Written(NewRange())});
    }
    const std::size_t steps = Below(10);
    for (std::size_t i = 0; i < steps; ++i) {
      branch_.steps.push_back(Below(6) == 0 ? MakeIf() : MakeStep());
    }
    for (std::size_t i = 0; i < 1 + Below(3); ++i) {
      branch_.outputs.push_back({"y" + std::to_string(i), AddSlot(KnownRange())});
    }
  }

  const Branch& branch() const { return branch_; }

 private:
  static constexpr std::size_t kUnits = 8;
  static constexpr std::size_t kMostUnits = 3;

  struct Range {
    std::size_t begin;
    std::size_t units;
    bool Overlaps(const Range& other) const {
      return begin < other.begin + other.units && other.begin < begin + units;
    }
    bool operator==(const Range&) const = default;
  };

  std::size_t Below(std::size_t limit) { return random_() % limit; }

  Range NewRange() {
    const std::size_t units = 1 + Below(kMostUnits);
    return {Below(kUnits - units + 1), units};
  }

  bool IsKnown(const Range& range) const {
    return std::all_of(known_ + range.begin, known_ + range.begin + range.units,
                       [](bool known) { return known; });
  }

  Range KnownRange() {
    for (;;) {
      const Range range = NewRange();
      if (IsKnown(range)) return range;
    }
  }

  SlotIndex AddSlot(const Range& range) {
    branch_.slots.push_back({Vector(range.units), Space::kArena, range.begin * kSlotAlignment});
    return static_cast<SlotIndex>(branch_.slots.size() - 1);
  }

  SlotIndex Written(const Range& range) {
    std::fill(known_ + range.begin, known_ + range.begin + range.units, true);
    return AddSlot(range);
  }

  /// Of so many units.
  Range KnownRangeOf(std::size_t units) {
    for (;;) {
      const Range range = KnownRange();
      if (range.units == units) return range;
    }
  }

  Step MakeStep() {
    const Range first = KnownRange();
    const Range second = KnownRangeOf(first.units);
    Range result = first;
    const bool in_place = Below(3) == 0 && !(first.Overlaps(second) && first != second);
    while (!in_place && (result.Overlaps(first) || result.Overlaps(second))) {
      result = {Below(kUnits - first.units + 1), first.units};
      if (kUnits < 3 * first.units && Below(50) == 0) return MakeStep();  // there is no room
    }
    const SlotIndex a = AddSlot(first);
    const SlotIndex b = AddSlot(second);
    const std::string name = "step" + std::to_string(branch_.slots.size());
    return {name, "Sub", {a, b}, {Written(result)}, {}};
  }

  /// One body negates, the other does nothing but pass something on.
  Step MakeIf() {
    const Range source = KnownRange();
    const Range other = KnownRangeOf(source.units);
    const SlotIndex from = AddSlot(source);
    const SlotIndex result = Written(other);
    Step step{"if" + std::to_string(result), "If", {0}, {result}, {}};
    const bool in_place = source.Overlaps(other);
    Body taken{.inputs = {}, .outputs = {result}, .steps = {}};
    if (!in_place) taken.steps = {{"negate", "Neg", {from}, {result}, {}}};
    step.bodies = {taken, {.inputs = {}, .outputs = {in_place ? result : from}, .steps = {}}};
    return step;
  }

  std::mt19937 random_;
  Branch branch_;
  bool known_[kUnits] = {};
};

/// A batch with its results.
struct TestBatch {
  TestBatch(const Branch& branch, std::mt19937& random) {
    for (const auto& input : branch.inputs) {
      const TensorType& type = branch.slots[input.slot].type;
      std::vector<std::byte>& memory = inputs.emplace_back(type.bytes());
      if (type.element == ElementType::kBool) {
        memory[0] = static_cast<std::byte>(random() % 2);
      } else {
        auto* values = reinterpret_cast<float*>(memory.data());
        for (std::size_t i = 0; i < type.bytes() / sizeof(float); ++i) {
          values[i] = static_cast<float>(random() % 100);
        }
      }
      input_pointers.push_back(memory.data());
    }
    for (const auto& output : branch.outputs) {
      outputs.emplace_back(branch.slots[output.slot].type.bytes());
      output_pointers.push_back(outputs.back().data());
    }
    extents.resize(branch.outputs.size());
  }

  std::vector<std::vector<std::byte>> inputs;
  std::vector<std::vector<std::byte>> outputs;
  std::vector<const void*> input_pointers;
  std::vector<void*> output_pointers;
  std::vector<std::int64_t> extents;
};

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
      buffered->Compute(i % 2, which[i], nullptr);
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
