#include "compiler/host/arena.hpp"

#include <algorithm>
#include <limits>

#include "runtime/program/program.hpp"

namespace poprt::host {
namespace {

using lower::BufferId;
using lower::Schedule;

struct Lifetime {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = -1;

  void Touch(std::int64_t step) {
    first = std::min(first, step);
    last = std::max(last, step);
  }
  bool Overlaps(const Lifetime& other) const { return first <= other.last && other.first <= last; }
};

std::vector<Lifetime> ComputeLifetimes(const Schedule& schedule) {
  std::vector<Lifetime> lifetimes(schedule.buffers.size());
  const auto touch = [&](BufferId id, std::int64_t step) {
    if (id != lower::kNoBuffer) lifetimes[schedule.Storage(id)].Touch(step);
  };
  // Steps count from 1: 0 is the copying in, the number after the last step the copying out.
  for (const lower::Stream& input : schedule.inputs) touch(input.buffer, 0);
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    for (BufferId id : schedule.steps[i].inputs) touch(id, static_cast<std::int64_t>(i) + 1);
    for (BufferId id : schedule.steps[i].outputs) touch(id, static_cast<std::int64_t>(i) + 1);
  }
  const auto end = static_cast<std::int64_t>(schedule.steps.size()) + 1;
  for (const lower::Stream& output : schedule.outputs) touch(output.buffer, end);
  return lifetimes;
}

std::uint64_t AlignedBytes(const lower::Buffer& buffer) {
  constexpr std::uint64_t alignment = program::kSlotAlignment;
  return (buffer.type.bytes() + alignment - 1) / alignment * alignment;
}

}  // namespace

ArenaPlan PlanArena(const Schedule& schedule) {
  const std::vector<Lifetime> lifetimes = ComputeLifetimes(schedule);
  std::vector<BufferId> order;
  for (BufferId id = 0; id < schedule.buffers.size(); ++id) {
    const lower::Buffer& buffer = schedule.buffers[id];
    if (!buffer.constant && !buffer.view_of && buffer.type.bytes() > 0) order.push_back(id);
  }
  std::stable_sort(order.begin(), order.end(), [&](BufferId a, BufferId b) {
    return schedule.buffers[a].type.bytes() > schedule.buffers[b].type.bytes();
  });

  ArenaPlan plan{.offsets = std::vector<std::uint64_t>(schedule.buffers.size(), 0), .bytes = 0};
  std::vector<BufferId> placed;  // ordered by offset
  for (BufferId id : order) {
    const std::uint64_t bytes = AlignedBytes(schedule.buffers[id]);
    std::uint64_t offset = 0;
    for (BufferId other : placed) {
      if (!lifetimes[id].Overlaps(lifetimes[other])) continue;
      if (plan.offsets[other] >= offset && plan.offsets[other] - offset >= bytes) break;
      offset = std::max(offset, plan.offsets[other] + AlignedBytes(schedule.buffers[other]));
    }
    plan.offsets[id] = offset;
    plan.bytes = std::max(plan.bytes, offset + bytes);
    const auto at = std::upper_bound(
        placed.begin(), placed.end(), offset,
        [&](std::uint64_t value, BufferId other) { return value < plan.offsets[other]; });
    placed.insert(at, id);
  }
  for (BufferId id = 0; id < schedule.buffers.size(); ++id) {
    plan.offsets[id] = plan.offsets[schedule.Storage(id)];
  }
  return plan;
}

}  // namespace poprt::host
