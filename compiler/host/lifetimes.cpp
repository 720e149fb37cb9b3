#include "compiler/host/lifetimes.hpp"

#include <utility>

#include "runtime/program/program.hpp"

namespace poprt::host {
namespace {

using lower::BufferId;
using lower::Schedule;

class LifetimeBuilder {
 public:
  explicit LifetimeBuilder(const Schedule& schedule)
      : schedule_(schedule), lifetimes_(schedule.buffers.size()) {}

  std::vector<Lifetime> Build() && {
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

}  // namespace

std::vector<Lifetime> LifetimesOf(const Schedule& schedule) {
  return LifetimeBuilder(schedule).Build();
}

std::uint64_t ArenaBytesOf(const lower::Buffer& buffer) {
  constexpr std::uint64_t alignment = program::kSlotAlignment;
  return (buffer.type.bytes() + alignment - 1) / alignment * alignment;
}

std::uint64_t LargestLiveSet(const Schedule& schedule) {
  const std::vector<Lifetime> lifetimes = LifetimesOf(schedule);
  std::int64_t end = 0;
  for (const Lifetime& lifetime : lifetimes) end = std::max(end, lifetime.last);
  std::vector<std::uint64_t> begins(static_cast<std::size_t>(end) + 2, 0);
  std::vector<std::uint64_t> ends(static_cast<std::size_t>(end) + 2, 0);
  for (BufferId id = 0; id < schedule.buffers.size(); ++id) {
    const Lifetime& lifetime = lifetimes[id];
    if (!schedule.buffers[id].is_activation() || lifetime.last < lifetime.first) continue;
    begins[static_cast<std::size_t>(lifetime.first)] += ArenaBytesOf(schedule.buffers[id]);
    ends[static_cast<std::size_t>(lifetime.last) + 1] += ArenaBytesOf(schedule.buffers[id]);
  }
  std::uint64_t live = 0;
  std::uint64_t largest = 0;
  for (std::size_t now = 0; now < begins.size(); ++now) {
    live = live - ends[now] + begins[now];
    largest = std::max(largest, live);
  }
  return largest;
}

}  // namespace poprt::host
