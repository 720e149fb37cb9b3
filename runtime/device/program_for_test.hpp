#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/model_device.hpp"

/// Programs that tests make up.
namespace poprt::device {

using program::Body;
using program::Branch;
using program::kSlotAlignment;
using program::Program;
using program::Slot;
using program::SlotIndex;
using program::Space;
using program::Step;

inline constexpr std::size_t kUnitFloats = kSlotAlignment / sizeof(float);
inline TensorType Vector(std::size_t units) {
  return {ElementType::kFloat32, {static_cast<std::int64_t>(units * kUnitFloats)}};
}

inline Program ProgramOf(std::vector<Branch> branches, std::uint32_t io_tiles) {
  return {.branches = std::move(branches),
          .batches_per_step = 1,
          .ipu_version = "ipu2",
          .tiles = 1472,
          .io_tiles = io_tiles};
}

inline std::unique_ptr<LoadedProgram> Load(const Program& program) {
  EXPECT_EQ(program::FindProblem(program, 0), "");
  return MakeModelDevice(0)->Load(std::make_shared<Image>(
      Image{.owner = nullptr, .payload = {.program = program, .weights = {}}}));
}

/// A branch that shares the bytes of a small arena in every way that is allowed: views and parts of
/// tensors, tensors joined of others, in place, one after the other; with inputs that are outputs.
class RandomBranch {
 public:
  /// Tensors have so many units, or two or three times as many.
  explicit RandomBranch(unsigned seed, std::size_t units = 1) : random_(seed), scale_(units) {
    branch_.name = "branch" + std::to_string(seed);
    branch_.arena_bytes = kUnits * scale_ * kSlotAlignment;
    branch_.slots.push_back({{ElementType::kBool, {}}, Space::kArena, branch_.arena_bytes});
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
    branch_.slots.push_back(
        {Vector(range.units * scale_), Space::kArena, range.begin * scale_ * kSlotAlignment});
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
  const std::size_t scale_;
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

}  // namespace poprt::device
