#include "compiler/host/arena.hpp"

#include <algorithm>
#include <limits>
#include <utility>

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

/// Numbers the steps, those inside steps among them, in the order in which they would run once.
class LifetimeBuilder {
 public:
  explicit LifetimeBuilder(const Schedule& schedule)
      : schedule_(schedule), lifetimes_(schedule.buffers.size()) {}

  std::vector<Lifetime> Build() && {
    // Steps count from 1: 0 is the copying in, the number after the last step the copying out.
    for (const lower::Stream& input : schedule_.inputs) Touch(input.buffer);
    VisitSteps(schedule_.steps);
    ++now_;
    for (const lower::Stream& output : schedule_.outputs) {
      Touch(output.buffer);
      if (output.extent) Touch(output.extent->buffer);
    }
    return std::move(lifetimes_);
  }

 private:
  /// A loop that is being visited, with what it reads of before it: needed in every iteration.
  struct Loop {
    std::int64_t first;
    std::vector<BufferId> outer;
  };

  void Touch(BufferId id) {
    if (id == lower::kNoBuffer) return;
    Lifetime& lifetime = lifetimes_[schedule_.Storage(id)];
    for (Loop& loop : loops_) {
      if (lifetime.first < loop.first) loop.outer.push_back(id);
    }
    lifetime.Touch(now_);
  }

  void Touch(const std::vector<BufferId>& ids) {
    for (const BufferId id : ids) Touch(id);
  }

  void VisitSteps(const std::vector<lower::Step>& steps) {
    for (const lower::Step& step : steps) {
      ++now_;
      TouchOperands(step);
      if (step.bodies.empty()) continue;
      loops_.push_back({.first = now_, .outer = {}});
      for (const lower::Body& body : step.bodies) {
        VisitSteps(body.steps);
        ++now_;
        Touch(body.outputs);
      }
      const std::vector<BufferId> outer = std::move(loops_.back().outer);
      loops_.pop_back();
      if (step.kernel == program::kLoop) Touch(outer);
      TouchOperands(step);
    }
  }

  void TouchOperands(const lower::Step& step) {
    Touch(step.inputs);
    Touch(step.outputs);
    for (const lower::Body& body : step.bodies) Touch(body.inputs);
  }

  const Schedule& schedule_;
  std::vector<Lifetime> lifetimes_;
  std::vector<Loop> loops_;
  std::int64_t now_ = 0;
};

std::uint64_t AlignedBytes(const lower::Buffer& buffer) {
  constexpr std::uint64_t alignment = program::kSlotAlignment;
  return (buffer.type.bytes() + alignment - 1) / alignment * alignment;
}

}  // namespace

ArenaPlan PlanArena(const Schedule& schedule) {
  const std::vector<Lifetime> lifetimes = LifetimeBuilder(schedule).Build();
  std::vector<BufferId> order;
  for (BufferId id = 0; id < schedule.buffers.size(); ++id) {
    const lower::Buffer& buffer = schedule.buffers[id];
    const bool is_activation = !buffer.constant && !buffer.is_variable && !buffer.view_of;
    if (is_activation && buffer.type.bytes() > 0) order.push_back(id);
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
