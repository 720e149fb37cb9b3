#include "runtime/device/buffered_branch.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace poprt::device {

using program::Body;
using program::Branch;
using program::kNoSlot;
using program::kSlotAlignment;
using program::Slot;
using program::SlotIndex;
using program::Space;
using program::Step;
using program::Stream;

namespace {

bool InArena(const Slot& slot) { return slot.space == Space::kArena && slot.type.bytes() > 0; }

std::uint64_t RoundUp(std::uint64_t bytes) {
  return (bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

/// The slots that a step or the steps inside it have as operands.
struct Operands {
  std::vector<SlotIndex> all;
  std::vector<SlotIndex> written;

  void Add(const Step& step) {
    all.insert(all.end(), step.inputs.begin(), step.inputs.end());
    AddWritten(step.outputs);
    for (const Body& body : step.bodies) {
      AddWritten(body.inputs);
      all.insert(all.end(), body.outputs.begin(), body.outputs.end());
      for (const Step& inner : body.steps) Add(inner);
    }
  }

  void AddWritten(const std::vector<SlotIndex>& slots) {
    all.insert(all.end(), slots.begin(), slots.end());
    written.insert(written.end(), slots.begin(), slots.end());
  }
};

}  // namespace

/// What the bytes of the arena hold at a point of the program. A write begins a region; regions
/// become one where a read finds both.
class ArenaContents {
 public:
  using Region = StreamBuffers::Region;
  using RegionIndex = StreamBuffers::RegionIndex;
  static constexpr RegionIndex kNoRegion = StreamBuffers::kNoRegion;

  explicit ArenaContents(std::vector<Region>& regions) : regions_(regions) {}

  RegionIndex Write(const Slot& slot) {
    if (!InArena(slot)) return kNoRegion;
    const std::uint64_t end = slot.offset + slot.type.bytes();
    CutAt(slot.offset);
    CutAt(end);
    pieces_.erase(pieces_.lower_bound(slot.offset), pieces_.lower_bound(end));
    const auto index = static_cast<RegionIndex>(regions_.size());
    regions_.push_back({.begin = slot.offset, .end = end});
    parents_.push_back(index);
    pieces_[slot.offset] = {end, index};
    return index;
  }

  /// None if nothing has been written there.
  RegionIndex Read(const Slot& slot) {
    if (!InArena(slot)) return kNoRegion;
    const std::uint64_t end = slot.offset + slot.type.bytes();
    RegionIndex joined = kNoRegion;
    auto piece = pieces_.upper_bound(slot.offset);
    if (piece != pieces_.begin() && std::prev(piece)->second.end > slot.offset) --piece;
    for (; piece != pieces_.end() && piece->first < end; ++piece) {
      joined =
          joined == kNoRegion ? Find(piece->second.region) : Join(joined, piece->second.region);
    }
    if (joined == kNoRegion) return joined;
    Region& region = regions_[joined];
    region.begin = std::min(region.begin, slot.offset);
    region.end = std::max(region.end, end);
    return joined;
  }

  /// The region that this one has become a part of.
  RegionIndex Find(RegionIndex index) {
    while (parents_[index] != index) {
      parents_[index] = parents_[parents_[index]];
      index = parents_[index];
    }
    return index;
  }

 private:
  struct Piece {
    std::uint64_t end;
    RegionIndex region;
  };

  void CutAt(std::uint64_t offset) {
    const auto after = pieces_.lower_bound(offset);
    if (after == pieces_.begin()) return;
    Piece& piece = std::prev(after)->second;
    if (piece.end <= offset) return;
    pieces_.emplace_hint(after, offset, piece);
    piece.end = offset;
  }

  RegionIndex Join(RegionIndex a, RegionIndex b) {
    a = Find(a);
    b = Find(b);
    if (a == b) return a;
    parents_[b] = a;
    Region& region = regions_[a];
    const Region& other = regions_[b];
    region.begin = std::min(region.begin, other.begin);
    region.end = std::max(region.end, other.end);
    region.is_pinned |= other.is_pinned;
    region.has_input |= other.has_input;
    region.has_output |= other.has_output;
    return a;
  }

  std::vector<Region>& regions_;
  std::vector<RegionIndex> parents_;
  std::map<std::uint64_t, Piece> pieces_;  ///< by the offset at which they begin
};

StreamBuffers::Home StreamBuffers::Region::home() const {
  if (is_pinned) return Home::kArena;
  if (has_input) return Home::kInputs;
  return has_output ? Home::kOutputs : Home::kArena;
}

StreamBuffers::StreamBuffers(const Branch& branch) : branch_(branch) {
  ArenaContents contents(regions_);
  const auto read = [&](SlotIndex i) {
    return i == kNoSlot ? kNoRegion : contents.Read(branch.slots[i]);
  };
  const auto write = [&](SlotIndex i) {
    return i == kNoSlot ? kNoRegion : contents.Write(branch.slots[i]);
  };
  const auto pin = [&](RegionIndex region) {
    if (region != kNoRegion) regions_[region].is_pinned = true;
  };
  for (const Stream& input : branch.inputs) {
    inputs_.push_back(write(input.slot));
    if (inputs_.back() != kNoRegion) regions_[inputs_.back()].has_input = true;
  }
  for (const Step& step : branch.steps) {
    std::vector<RegionIndex>& operands = operands_.emplace_back();
    if (step.bodies.empty()) {
      for (const SlotIndex i : step.inputs) operands.push_back(read(i));
      for (const SlotIndex i : step.outputs) operands.push_back(write(i));
      continue;
    }
    // Bodies run any number of times, or not at all: what they use stays where it is.
    Operands touched;
    touched.Add(step);
    for (const SlotIndex i : touched.all) pin(read(i));
    for (const SlotIndex i : touched.written) pin(write(i));
  }
  for (const Stream& output : branch.outputs) {
    outputs_.push_back(read(output.slot));
    if (outputs_.back() != kNoRegion) regions_[outputs_.back()].has_output = true;
    extents_.push_back(output.extent ? read(output.extent->slot) : kNoRegion);
  }
  const auto find = [&](RegionIndex& region) {
    if (region != kNoRegion) region = contents.Find(region);
  };
  for (auto* regions : {&inputs_, &outputs_, &extents_}) std::ranges::for_each(*regions, find);
  for (std::vector<RegionIndex>& regions : operands_) std::ranges::for_each(regions, find);
  Assign();
}

void StreamBuffers::Assign() {
  const auto take = [](std::uint64_t& buffer, std::uint64_t bytes) {
    return std::exchange(buffer, buffer + RoundUp(bytes));
  };
  std::vector<bool> has_offset(regions_.size(), false);
  const auto place = [&](RegionIndex index, Home home, std::uint64_t& buffer) {
    if (index == kNoRegion || regions_[index].home() != home) return false;
    Region& region = regions_[index];
    if (!has_offset[index]) region.offset = take(buffer, region.end - region.begin);
    has_offset[index] = true;
    return true;
  };
  const auto bytes = [&](const Stream& stream) { return branch_.slots[stream.slot].type.bytes(); };
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (place(inputs_[i], Home::kInputs, input_bytes_)) continue;
    staged_inputs_.push_back({i, take(input_bytes_, bytes(branch_.inputs[i]))});
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (place(outputs_[i], Home::kOutputs, output_bytes_)) continue;
    if (branch_.slots[branch_.outputs[i].slot].space == Space::kWeights) continue;
    staged_outputs_.push_back({i, take(output_bytes_, bytes(branch_.outputs[i]))});
  }
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
    if (index == kNoRegion || buffers_.regions_[index].home() == Home::kArena) return slot;
    const auto [known, is_new] = moved_.try_emplace({slot, index}, kNoSlot);
    if (is_new) {
      const Region& region = buffers_.regions_[index];
      const std::uint64_t buffer = region.home() == Home::kInputs ? inputs_at_ : outputs_at_;
      const Slot from = branch().slots[slot];
      known->second = NewSlot(from.type, buffer + region.offset + (from.offset - region.begin));
    }
    return known->second;
  }

  void MoveSteps() {
    for (std::size_t s = 0; s < branch().steps.size(); ++s) {
      Step& step = branch().steps[s];
      if (!step.bodies.empty()) continue;
      auto region = buffers_.operands_[s].begin();
      for (SlotIndex& slot : step.inputs) slot = Moved(slot, *region++);
      for (SlotIndex& slot : step.outputs) slot = Moved(slot, *region++);
    }
  }

  void MoveInputs() {
    for (std::size_t i = 0; i < branch().inputs.size(); ++i) {
      Stream& stream = branch().inputs[i];
      stream.slot = Moved(stream.slot, buffers_.inputs_[i]);
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
      stream.slot = Moved(stream.slot, buffers_.outputs_[i]);
      if (!stream.extent) continue;
      stream.extent->slot = Moved(stream.extent->slot, buffers_.extents_[i]);
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
