#include "runtime/device/lent_streams.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace poprt::device {
namespace {

using program::Branch;
using program::SlotIndex;

bool IsAligned(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % LentStreams::kAlignment == 0;
}

bool Overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(a);
  const auto second = reinterpret_cast<std::uintptr_t>(b);
  return first < second + b_bytes && second < first + a_bytes;
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
  CollectForwarded(branch, found, streams);
  CollectOperands(branch, found, streams, stages);
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

void LentStreams::CollectForwarded(const Branch& branch, const ArenaRegions& found,
                                   const std::vector<Stream*>& streams) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const RegionIndex region = found.inputs[i];
    if (region == kNoRegion || streams[region] != &inputs_[i]) continue;
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      if (found.outputs[k] != region) continue;
      const std::size_t begin = branch.slots[branch.outputs[k].slot].offset;
      forwarded_.push_back(
          {.output = k, .input = i, .offset = begin - found.regions[region].begin});
      inputs_[i].is_forwarded = true;
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
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool in_place = inputs[i] != nullptr && inputs_[i].IsLent() && IsAligned(inputs[i]) &&
                          ForwardsApart(i, inputs, outputs);
    copied_inputs_[i] = in_place ? nullptr : inputs[i];
    // Nothing is written there: IsInput.
    if (in_place) inputs_[i].PointTo(static_cast<std::byte*>(const_cast<void*>(inputs[i])));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool in_place = outputs_[i].IsLent() && outputs[i] != nullptr && IsAligned(outputs[i]) &&
                          LiesApart(i, inputs, outputs);
    copied_outputs_[i] = in_place ? nullptr : outputs[i];
    if (in_place) outputs_[i].PointTo(static_cast<std::byte*>(outputs[i]));
  }
  for (Forwarded& forwarded : forwarded_) {
    forwarded.to = nullptr;
    if (inputs[forwarded.input] == nullptr || copied_inputs_[forwarded.input] != nullptr) continue;
    forwarded.from = static_cast<const std::byte*>(inputs[forwarded.input]) + forwarded.offset;
    forwarded.to = std::exchange(copied_outputs_[forwarded.output], nullptr);
  }
  return Loan(*this);
}

void LentStreams::Loan::Forward() const {
  for (const Forwarded& forwarded : streams_.forwarded_) {
    if (forwarded.to == nullptr) continue;
    std::memcpy(forwarded.to, forwarded.from, streams_.outputs_[forwarded.output].bytes);
  }
}

bool LentStreams::ForwardsApart(std::size_t input, std::span<const void* const> inputs,
                                std::span<void* const> outputs) const {
  return std::ranges::all_of(forwarded_, [&](const Forwarded& forwarded) {
    return forwarded.input != input || outputs[forwarded.output] == nullptr ||
           LiesApart(forwarded.output, inputs, outputs);
  });
}

bool LentStreams::LiesApart(std::size_t output, std::span<const void* const> inputs,
                            std::span<void* const> outputs) const {
  const auto shares = [&](const void* memory, const Stream& stream) {
    return memory != nullptr &&
           Overlap(memory, stream.bytes, outputs[output], outputs_[output].bytes);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (shares(inputs[i], inputs_[i])) return false;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (i != output && shares(outputs[i], outputs_[i])) return false;
  }
  return true;
}

void LentStreams::GiveBack() {
  for (const Stream& stream : inputs_) stream.PointTo(stream.own);
  for (const Stream& stream : outputs_) stream.PointTo(stream.own);
}

}  // namespace poprt::device
