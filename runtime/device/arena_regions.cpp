#include "runtime/device/arena_regions.hpp"

#include <algorithm>

namespace poprt::device {
namespace {

using program::Body;
using program::Branch;
using program::kNoSlot;
using program::Slot;
using program::SlotIndex;
using program::Space;
using program::Step;
using program::Stream;

/// What the bytes of the arena hold at a point of the program. A write begins a region; regions
/// become one where a read finds both.
class ArenaContents {
 public:
  explicit ArenaContents(std::vector<ArenaRegion>& regions) : regions_(regions) {}

  RegionIndex Write(const Slot& slot) {
    if (!InArena(slot)) return kNoRegion;
    const std::uint64_t end = slot.offset + slot.type.bytes();
    CutAt(slot.offset);
    CutAt(end);
    const auto index = static_cast<RegionIndex>(regions_.size());
    regions_.push_back({.begin = slot.offset, .end = end});
    parents_.push_back(index);
    const auto first = FirstEndingBehind(slot.offset);
    const auto last = std::ranges::lower_bound(first, pieces_.end(), end, {}, &Piece::begin);
    pieces_.insert(pieces_.erase(first, last), {slot.offset, end, index});
    return index;
  }

  /// None if nothing has been written there.
  RegionIndex Read(const Slot& slot) {
    if (!InArena(slot)) return kNoRegion;
    const std::uint64_t end = slot.offset + slot.type.bytes();
    RegionIndex joined = kNoRegion;
    for (auto piece = FirstEndingBehind(slot.offset); piece != pieces_.end() && piece->begin < end;
         ++piece) {
      joined = joined == kNoRegion ? Find(piece->region) : Join(joined, piece->region);
    }
    if (joined == kNoRegion) return joined;
    ArenaRegion& region = regions_[joined];
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
    std::uint64_t begin;
    std::uint64_t end;
    RegionIndex region;
  };
  using Pieces = std::vector<Piece>;

  static bool InArena(const Slot& slot) {
    return slot.space == Space::kArena && slot.type.bytes() > 0;
  }

  Pieces::iterator FirstEndingBehind(std::uint64_t offset) {
    return std::ranges::upper_bound(pieces_, offset, {}, &Piece::end);
  }

  void CutAt(std::uint64_t offset) {
    const auto piece = FirstEndingBehind(offset);
    if (piece == pieces_.end() || piece->begin >= offset) return;
    const Piece before{piece->begin, offset, piece->region};
    piece->begin = offset;
    pieces_.insert(piece, before);
  }

  RegionIndex Join(RegionIndex a, RegionIndex b) {
    a = Find(a);
    b = Find(b);
    if (a == b) return a;
    parents_[b] = a;
    ArenaRegion& region = regions_[a];
    const ArenaRegion& other = regions_[b];
    region.begin = std::min(region.begin, other.begin);
    region.end = std::max(region.end, other.end);
    region.is_pinned |= other.is_pinned;
    region.is_computed |= other.is_computed;
    region.num_inputs += other.num_inputs;
    region.num_outputs += other.num_outputs;
    region.has_extent |= other.has_extent;
    return a;
  }

  std::vector<ArenaRegion>& regions_;
  std::vector<RegionIndex> parents_;
  Pieces pieces_;  ///< in the order of their bytes
};

/// Runs through a branch.
class RegionFinder {
 public:
  explicit RegionFinder(const Branch& branch) : branch_(branch), contents_(found_.regions) {}

  ArenaRegions Find() {
    for (const Stream& input : branch_.inputs) {
      found_.inputs.push_back(Write(input.slot));
      Mark(found_.inputs.back(), [](ArenaRegion& region) { ++region.num_inputs; });
    }
    found_.operands.reserve(branch_.steps.size());
    for (const Step& step : branch_.steps) {
      found_.operands.emplace_back();
      if (step.bodies.empty()) {
        Follow(step, found_.operands.back());
      } else {
        Pin(step);
      }
    }
    for (const Stream& output : branch_.outputs) {
      found_.outputs.push_back(Read(output.slot));
      Mark(found_.outputs.back(), [](ArenaRegion& region) { ++region.num_outputs; });
      found_.extents.push_back(output.extent ? Read(output.extent->slot) : kNoRegion);
      Mark(found_.extents.back(), [](ArenaRegion& region) { region.has_extent = true; });
    }
    Settle();
    return std::move(found_);
  }

 private:
  RegionIndex Read(SlotIndex i) {
    return i == kNoSlot ? kNoRegion : contents_.Read(branch_.slots[i]);
  }
  RegionIndex Write(SlotIndex i) {
    return i == kNoSlot ? kNoRegion : contents_.Write(branch_.slots[i]);
  }

  template <typename Change>
  void Mark(RegionIndex index, const Change& change) {
    if (index != kNoRegion) change(found_.regions[index]);
  }

  void Follow(const Step& step, std::vector<RegionIndex>& operands) {
    operands.reserve(step.inputs.size() + step.outputs.size());
    for (const SlotIndex i : step.inputs) operands.push_back(Read(i));
    for (const SlotIndex i : step.outputs) {
      operands.push_back(Write(i));
      Mark(operands.back(), [](ArenaRegion& region) { region.is_computed = true; });
    }
  }

  /// Bodies run any number of times, or not at all: what they use stays where it is.
  void Pin(const Step& step) {
    std::vector<SlotIndex> written;
    PinRead(step, written);
    for (const SlotIndex i : written) PinOne(Read(i));
    for (const SlotIndex i : written) PinOne(Write(i));
  }

  /// What a step and those inside it read, and which slots they write.
  void PinRead(const Step& step, std::vector<SlotIndex>& written) {
    for (const SlotIndex i : step.inputs) PinOne(Read(i));
    written.insert(written.end(), step.outputs.begin(), step.outputs.end());
    for (const Body& body : step.bodies) {
      written.insert(written.end(), body.inputs.begin(), body.inputs.end());
      for (const SlotIndex i : body.outputs) PinOne(Read(i));
      for (const Step& inner : body.steps) PinRead(inner, written);
    }
  }

  void PinOne(RegionIndex index) {
    Mark(index, [](ArenaRegion& region) { region.is_pinned = true; });
  }

  void Settle() {
    const auto settle = [&](std::vector<RegionIndex>& indices) {
      for (RegionIndex& index : indices) {
        if (index != kNoRegion) index = contents_.Find(index);
      }
    };
    settle(found_.inputs);
    settle(found_.outputs);
    settle(found_.extents);
    std::ranges::for_each(found_.operands, settle);
  }

  const Branch& branch_;
  ArenaRegions found_;
  ArenaContents contents_;
};

}  // namespace

ArenaRegions FindArenaRegions(const Branch& branch) { return RegionFinder(branch).Find(); }

}  // namespace poprt::device
