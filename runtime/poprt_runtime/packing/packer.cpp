#include "runtime/poprt_runtime/packing/packer.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/poprt_runtime/packing/mask_number.hpp"

namespace poprt::runtime {

Packer::Packer(const PackLayout& layout) : layout_(layout) {
  for (const PackTensor& input : layout.inputs) {
    Buffer& memory = input_memory_.emplace_back(input.bytes);
    inputs_.push_back({input.name, memory.data(), memory.size()});
  }
  for (const PackTensor& output : layout.outputs) {
    Buffer& memory = output_memory_.emplace_back(output.bytes);
    outputs_.push_back({output.name, memory.data(), memory.size()});
  }
}

std::uint64_t Packer::Start(const Placement& place) const {
  return place.row * layout_.room.row_length + place.offset;
}

void Packer::Compose(std::span<const PackEntry> entries, const PackPlan& plan) {
  places_.assign(plan.placements().begin(), plan.placements().end());
  order_ = plan.Order();
  position_.assign(order_.size(), 0);
  number_in_row_.assign(order_.size(), 1);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    position_[order_[i]] = i;
    if (i == 0 || places_[order_[i - 1]].row != places_[order_[i]].row) continue;
    number_in_row_[order_[i]] = number_in_row_[order_[i - 1]] + 1;
  }
  for (std::size_t i = 0; i < layout_.inputs.size(); ++i) {
    const PackTensor& input = layout_.inputs[i];
    Buffer& to = input_memory_[i];
    std::fill(to.begin(), to.end(), std::byte{0});
    if (input.role == PackRole::kUnpackInfo) {
      WriteUnpackInfo(input, to);
      continue;
    }
    for (std::size_t number = 0; number < entries.size(); ++number) {
      CopyEntry(input, entries[number].inputs[i], entries[number], number, to);
    }
  }
}

void Packer::CopyEntry(const PackTensor& tensor, const std::byte* from, const PackEntry& entry,
                       std::size_t number, Buffer& to) const {
  if (tensor.part_bytes == 0) return;
  if (tensor.role == PackRole::kEntries) {
    std::memcpy(to.data() + position_[number] * tensor.part_bytes, from, tensor.part_bytes);
    return;
  }
  if (tensor.role == PackRole::kMask && layout_.number_mask) {
    return NumberMask(tensor, from, entry, number, to);
  }
  std::byte* target = to.data() + Start(places_[number]) * tensor.part_bytes;
  if (!tensor.strip) {
    std::memcpy(target, from, entry.length * tensor.part_bytes);
    return;
  }
  for (const TokenRun& run : entry.kept) {
    std::memcpy(target, from + run.first * tensor.part_bytes, run.count * tensor.part_bytes);
    target += run.count * tensor.part_bytes;
  }
}

void Packer::NumberMask(const PackTensor& mask, const std::byte* from, const PackEntry& entry,
                        std::size_t number, Buffer& to) const {
  std::byte* target = to.data() + Start(places_[number]) * mask.part_bytes;
  for (const TokenRun& run : entry.kept) {
    for (std::uint64_t token = run.first; token < run.first + run.count; ++token) {
      const std::byte* element = from + token * mask.part_bytes;
      const bool counts = std::any_of(element, element + mask.part_bytes,
                                      [](std::byte part) { return part != std::byte{0}; });
      if (counts) WriteNumber(mask.type, number_in_row_[number], target);
      target += mask.part_bytes;
    }
  }
}

void Packer::WriteUnpackInfo(const PackTensor& tensor, Buffer& to) const {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Placement& place = places_[order_[i]];
    const std::uint64_t start = Start(place);
    std::uint64_t end =
        layout_.crosses_rows ? start + place.length : (place.row + 1) * layout_.room.row_length;
    if (i + 1 < order_.size()) end = Start(places_[order_[i + 1]]);
    WriteNumber(tensor.type, end - start, to.data() + i * tensor.part_bytes);
  }
}

void Packer::CopyBack(std::span<const PackEntry> entries) const {
  for (std::size_t number = 0; number < entries.size(); ++number) {
    const PackEntry& entry = entries[number];
    for (std::size_t i = 0; i < layout_.outputs.size(); ++i) {
      const PackTensor& output = layout_.outputs[i];
      const std::uint64_t bytes = entry.OutputBytes(output);
      if (entry.outputs[i] == nullptr || bytes == 0) continue;
      const std::uint64_t place = output.has_tokens() ? Start(places_[number]) : position_[number];
      std::memcpy(entry.outputs[i], output_memory_[i].data() + place * output.part_bytes, bytes);
    }
  }
}

}  // namespace poprt::runtime
