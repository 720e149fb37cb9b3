#include "tools/popef_dump/branch_weights.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace poprt::dump {

std::uint64_t BranchWeightBytes(const program::Branch& branch) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const program::Slot& slot : branch.slots) {
    if (slot.space != program::Space::kWeights) continue;
    ranges.emplace_back(slot.offset, slot.offset + slot.type.bytes());
  }
  std::sort(ranges.begin(), ranges.end());
  std::uint64_t bytes = 0;
  std::uint64_t counted_to = 0;
  for (const auto& [first, end] : ranges) {
    bytes += std::max(end, counted_to) - std::max(first, counted_to);
    counted_to = std::max(end, counted_to);
  }
  return bytes;
}

}  // namespace poprt::dump
