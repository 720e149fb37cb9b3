#include "compiler/host/weights.hpp"

#include <cstring>
#include <set>
#include <unordered_map>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/program/program.hpp"

namespace poprt::host {
namespace {

using lower::BufferId;
using lower::Schedule;

std::vector<BufferId> UsedConstants(const Schedule& schedule) {
  std::vector<BufferId> used;
  std::set<BufferId> seen;
  const auto use = [&](BufferId id) {
    if (id == lower::kNoBuffer) return;
    const BufferId storage = schedule.Storage(id);
    if (schedule.buffers[storage].constant && seen.insert(storage).second) used.push_back(storage);
  };
  for (const BufferId id : lower::BuffersRead(schedule)) use(id);
  return used;
}

/// Finds the place of equal bytes, or makes one.
class Placement {
 public:
  explicit Placement(WeightsPlan& plan) : plan_(plan) {}

  std::uint64_t Place(const Tensor& tensor) {
    const std::uint64_t hash = XXH3_64bits(tensor.data(), tensor.bytes());
    const auto [first, last] = pieces_.equal_range(hash);
    for (auto at = first; at != last; ++at) {
      const auto& [offset, piece] = plan_.pieces[at->second];
      if (piece.bytes() == tensor.bytes() &&
          std::memcmp(piece.data(), tensor.data(), tensor.bytes()) == 0) {
        return offset;
      }
    }
    const std::uint64_t offset = plan_.bytes;
    pieces_.emplace(hash, plan_.pieces.size());
    plan_.pieces.emplace_back(offset, tensor);
    constexpr std::uint64_t alignment = program::kSlotAlignment;
    plan_.bytes += (tensor.bytes() + alignment - 1) / alignment * alignment;
    return offset;
  }

 private:
  WeightsPlan& plan_;
  std::unordered_multimap<std::uint64_t, std::size_t> pieces_;
};

}  // namespace

WeightsPlan PlanWeights(std::span<const Schedule> schedules) {
  WeightsPlan plan;
  Placement placement(plan);
  for (const Schedule& schedule : schedules) {
    std::vector<std::uint64_t>& offsets = plan.offsets.emplace_back(schedule.buffers.size(), 0);
    std::set<std::uint64_t> own;
    std::uint64_t& bytes = plan.bytes_of_graph.emplace_back(0);
    for (BufferId id : UsedConstants(schedule)) {
      const Tensor& constant = *schedule.buffers[id].constant;
      if (constant.bytes() == 0) continue;
      offsets[id] = placement.Place(constant);
      if (own.insert(offsets[id]).second) bytes += constant.bytes();
    }
    for (BufferId id = 0; id < schedule.buffers.size(); ++id) {
      offsets[id] = offsets[schedule.Storage(id)] + schedule.buffers[id].view_offset;
    }
  }
  return plan;
}

}  // namespace poprt::host
