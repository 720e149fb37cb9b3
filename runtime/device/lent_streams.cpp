#include "runtime/device/lent_streams.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace poprt::device {
namespace {

using program::Branch;
using program::SlotIndex;

bool IsAligned(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % LentStreams::kAlignment == 0;
}

bool IsInput(const ArenaRegion& region) { return region.num_inputs == 1 && !region.is_computed; }

bool IsOutput(const ArenaRegion& region) {
  return region.num_inputs == 0 && region.num_outputs == 1;
}

}  // namespace

LentStreams::LentStreams(const Branch& branch, std::vector<BoundSteps>& stages)
    : copied_inputs_(branch.inputs.size()), copied_outputs_(branch.outputs.size()) {
  bool any_is_large = false;
  const auto add = [&](const program::Stream& stream, std::vector<Stream>& streams) {
    streams.push_back({.bytes = branch.slots[stream.slot].type.bytes()});
    any_is_large |= streams.back().bytes >= kLeastBytes;
  };
  for (const program::Stream& input : branch.inputs) add(input, inputs_);
  for (const program::Stream& output : branch.outputs) add(output, outputs_);
  if (!any_is_large) return;
  const ArenaRegions found = FindArenaRegions(branch);
  const std::vector<Stream*> streams = StreamsOfRegions(branch, found);
  CollectParts(branch, found, streams);
  CollectOperands(branch, found, streams, stages);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    inputs_[i].is_lent = found.inputs[i] != kNoRegion && streams[found.inputs[i]] == &inputs_[i];
  }
  for (Stream& output : outputs_) output.is_lent = !output.written.places.empty();
  extents_.reserve(inputs_.size() + outputs_.size());
}

std::vector<LentStreams::Stream*> LentStreams::StreamsOfRegions(const Branch& branch,
                                                                const ArenaRegions& found) {
  std::vector<Stream*> streams(found.regions.size(), nullptr);
  const auto lend = [&](RegionIndex index, bool (*fits)(const ArenaRegion&), Stream& stream) {
    if (index == kNoRegion || stream.bytes < kLeastBytes) return;
    const ArenaRegion& region = found.regions[index];
    const bool is_whole = region.end - region.begin == stream.bytes;
    if (is_whole && fits(region) && !region.is_pinned && !region.has_extent) {
      streams[index] = &stream;
    }
  };
  for (std::size_t i = 0; i < inputs_.size(); ++i) lend(found.inputs[i], IsInput, inputs_[i]);
  for (std::size_t i = 0; i < outputs_.size(); ++i) lend(found.outputs[i], IsOutput, outputs_[i]);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const bool is_cut_off = branch.outputs[i].extent.has_value();
    if (is_cut_off && found.outputs[i] != kNoRegion) streams[found.outputs[i]] = nullptr;
  }
  return streams;
}

void LentStreams::CollectParts(const Branch& branch, const ArenaRegions& found,
                               const std::vector<Stream*>& streams) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const RegionIndex region = found.inputs[i];
    if (region == kNoRegion || streams[region] != &inputs_[i]) continue;
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      if (found.outputs[k] != region) continue;
      const std::size_t begin = branch.slots[branch.outputs[k].slot].offset;
      inputs_[i].parts.push_back({.output = k, .offset = begin - found.regions[region].begin});
    }
  }
}

void LentStreams::CollectOperands(const Branch& branch, const ArenaRegions& found,
                                  const std::vector<Stream*>& streams,
                                  std::vector<BoundSteps>& stages) {
  std::vector<RegionIndex>::const_iterator region;
  const auto collect = [&](auto& memory, SlotIndex slot, auto operands) {
    const RegionIndex index = *region++;
    if (index == kNoRegion || streams[index] == nullptr) return;
    Stream& stream = *streams[index];
    const std::size_t offset = branch.slots[slot].offset - found.regions[index].begin;
    (stream.*operands).places.emplace_back(&memory, offset);
    stream.own = const_cast<std::byte*>(memory) - offset;
  };
  std::size_t s = 0;
  for (BoundSteps& stage : stages) {
    for (BoundStep& bound : stage) {
      const program::Step& source = branch.steps[s];
      region = found.operands[s++].begin();
      auto* step = std::get_if<KernelStep>(&bound);
      if (step == nullptr) continue;
      for (std::size_t i = 0; i < step->inputs.size(); ++i) {
        collect(step->inputs[i], source.inputs[i], &Stream::read);
      }
      for (std::size_t i = 0; i < step->outputs.size(); ++i) {
        collect(step->outputs[i], source.outputs[i], &Stream::written);
      }
    }
  }
}

LentStreams::Loan LentStreams::Lend(std::span<const void* const> inputs,
                                    std::span<void* const> outputs) {
  FindApart(inputs, outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Stream& stream = outputs_[i];
    const bool in_place =
        stream.is_lent && outputs[i] != nullptr && IsAligned(outputs[i]) && stream.is_apart;
    copied_outputs_[i] = in_place ? nullptr : outputs[i];
    if (in_place) stream.PointTo(static_cast<std::byte*>(outputs[i]));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Stream& stream = inputs_[i];
    const bool in_place =
        stream.is_lent && inputs[i] != nullptr && IsAligned(inputs[i]) && PartsAreApart(stream);
    copied_inputs_[i] = in_place ? nullptr : inputs[i];
    if (!in_place) continue;
    // Nothing is written there: IsInput.
    auto* const memory = static_cast<std::byte*>(const_cast<void*>(inputs[i]));
    stream.PointTo(memory);
    for (const auto& [output, offset] : stream.parts) {
      void* const to = std::exchange(copied_outputs_[output], nullptr);
      if (to != nullptr) std::memcpy(to, memory + offset, outputs_[output].bytes);
    }
  }
  return Loan(*this);
}

bool LentStreams::PartsAreApart(const Stream& input) const {
  return std::ranges::all_of(input.parts,
                             [&](const Part& part) { return outputs_[part.output].is_apart; });
}

void LentStreams::FindApart(std::span<const void* const> inputs, std::span<void* const> outputs) {
  extents_.clear();
  const auto add = [&](const void* memory, Stream& stream) {
    stream.is_apart = true;
    if (memory == nullptr || stream.bytes == 0) return;
    extents_.push_back({reinterpret_cast<std::uintptr_t>(memory), &stream});
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) add(inputs[i], inputs_[i]);
  for (std::size_t i = 0; i < outputs.size(); ++i) add(outputs[i], outputs_[i]);
  std::ranges::sort(extents_, {}, &Extent::begin);
  // The one that ends last of those that begin before `next`. What else reaches into `next` shares
  // memory with it, and is known.
  const Extent* last = nullptr;
  for (const Extent& next : extents_) {
    if (last != nullptr && next.begin < last->end()) {
      next.stream->is_apart = last->stream->is_apart = false;
      if (next.end() <= last->end()) continue;
    }
    last = &next;
  }
}

void LentStreams::GiveBack() {
  for (const Stream& stream : inputs_) stream.PointTo(stream.own);
  for (const Stream& stream : outputs_) stream.PointTo(stream.own);
}

}  // namespace poprt::device
