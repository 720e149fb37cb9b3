#include "runtime/device/buffered_branch.hpp"

#include <map>
#include <utility>

namespace poprt::device {

using program::Branch;
using program::kNoSlot;
using program::kSlotAlignment;
using program::Slot;
using program::SlotIndex;
using program::Space;
using program::Step;
using program::Stream;

namespace {

std::uint64_t RoundUp(std::uint64_t bytes) {
  return (bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

}  // namespace

StreamBuffers::StreamBuffers(const Branch& branch)
    : branch_(branch), found_(FindArenaRegions(branch)), offsets_(found_.regions.size(), kNowhere) {
  const auto take = [](std::uint64_t& buffer, std::uint64_t bytes) {
    return std::exchange(buffer, buffer + RoundUp(bytes));
  };
  const auto place = [&](RegionIndex index, Home home, std::uint64_t& buffer) {
    if (HomeOf(index) != home) return false;
    const ArenaRegion& region = found_.regions[index];
    std::uint64_t& offset = offsets_[index];
    if (offset == kNowhere) offset = take(buffer, region.end - region.begin);
    return true;
  };
  const auto bytes = [&](const Stream& stream) { return branch_.slots[stream.slot].type.bytes(); };
  for (std::size_t i = 0; i < branch.inputs.size(); ++i) {
    if (place(found_.inputs[i], Home::kInputs, input_bytes_)) continue;
    staged_inputs_.push_back({i, take(input_bytes_, bytes(branch.inputs[i]))});
  }
  for (std::size_t i = 0; i < branch.outputs.size(); ++i) {
    if (place(found_.outputs[i], Home::kOutputs, output_bytes_)) continue;
    if (branch.slots[branch.outputs[i].slot].space == Space::kWeights) continue;
    staged_outputs_.push_back({i, take(output_bytes_, bytes(branch.outputs[i]))});
  }
}

StreamBuffers::Home StreamBuffers::HomeOf(RegionIndex index) const {
  if (index == kNoRegion || found_.regions[index].is_pinned) return Home::kArena;
  if (found_.regions[index].num_inputs > 0) return Home::kInputs;
  return found_.regions[index].num_outputs > 0 ? Home::kOutputs : Home::kArena;
}

/// Makes a BufferedBranch.
class StreamBuffers::Placement {
 public:
  Placement(const StreamBuffers& buffers, std::uint64_t inputs_at, std::uint64_t outputs_at)
      : buffers_(buffers),
        inputs_at_(inputs_at),
        outputs_at_(outputs_at),
        result_{.branch = buffers.branch_, .before = {}, .after = {}} {}

  BufferedBranch Make() {
    MoveSteps();
    MoveInputs();
    MoveOutputs();
    return std::move(result_);
  }

 private:
  Branch& branch() { return result_.branch; }

  SlotIndex NewSlot(const TensorType& type, std::uint64_t offset) {
    branch().slots.push_back({type, Space::kArena, offset});
    return static_cast<SlotIndex>(branch().slots.size() - 1);
  }

  /// Where the part of the region is that the slot stands for.
  SlotIndex Moved(SlotIndex slot, RegionIndex index) {
    const Home home = buffers_.HomeOf(index);
    if (home == Home::kArena) return slot;
    const auto [known, is_new] = moved_.try_emplace({slot, index}, kNoSlot);
    if (is_new) {
      const std::uint64_t buffer = home == Home::kInputs ? inputs_at_ : outputs_at_;
      const Slot from = branch().slots[slot];
      const std::uint64_t within = from.offset - buffers_.found_.regions[index].begin;
      known->second = NewSlot(from.type, buffer + buffers_.offsets_[index] + within);
    }
    return known->second;
  }

  void MoveSteps() {
    for (std::size_t s = 0; s < branch().steps.size(); ++s) {
      Step& step = branch().steps[s];
      if (!step.bodies.empty()) continue;
      auto region = buffers_.found_.operands[s].begin();
      for (SlotIndex& slot : step.inputs) slot = Moved(slot, *region++);
      for (SlotIndex& slot : step.outputs) slot = Moved(slot, *region++);
    }
  }

  void MoveInputs() {
    for (std::size_t i = 0; i < branch().inputs.size(); ++i) {
      Stream& stream = branch().inputs[i];
      stream.slot = Moved(stream.slot, buffers_.found_.inputs[i]);
    }
    for (const Staged& staged : buffers_.staged_inputs_) {
      SlotIndex& slot = branch().inputs[staged.stream].slot;
      const SlotIndex buffer = NewSlot(branch().slots[slot].type, inputs_at_ + staged.offset);
      result_.before.push_back({.to = slot, .from = buffer});
      slot = buffer;
    }
  }

  void MoveOutputs() {
    for (std::size_t i = 0; i < branch().outputs.size(); ++i) {
      Stream& stream = branch().outputs[i];
      stream.slot = Moved(stream.slot, buffers_.found_.outputs[i]);
      if (!stream.extent) continue;
      stream.extent->slot = Moved(stream.extent->slot, buffers_.found_.extents[i]);
    }
    for (const Staged& staged : buffers_.staged_outputs_) {
      SlotIndex& slot = branch().outputs[staged.stream].slot;
      const SlotIndex buffer = NewSlot(branch().slots[slot].type, outputs_at_ + staged.offset);
      result_.after.push_back({.to = buffer, .from = slot});
      slot = buffer;
    }
  }

  const StreamBuffers& buffers_;
  const std::uint64_t inputs_at_;
  const std::uint64_t outputs_at_;
  BufferedBranch result_;
  std::map<std::pair<SlotIndex, RegionIndex>, SlotIndex> moved_;
};

BufferedBranch StreamBuffers::Place(std::uint64_t inputs_at, std::uint64_t outputs_at) const {
  return Placement(*this, inputs_at, outputs_at).Make();
}

}  // namespace poprt::device
