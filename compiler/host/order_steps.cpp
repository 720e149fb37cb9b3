#include "compiler/host/order_steps.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/host/lifetimes.hpp"
#include "compiler/ir/list_schedule.hpp"

namespace poprt::host {
namespace {

using lower::BufferId;
using lower::Schedule;
using lower::Step;
using StepId = std::uint32_t;

template <typename T>
void SortUnique(std::vector<T>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

/// What the list scheduler wants to know of a schedule.
class ProblemBuilder {
 public:
  explicit ProblemBuilder(const Schedule& schedule) : schedule_(schedule) {}

  ir::ListScheduleProblem Build() && {
    FindOperands();
    FindSources();
    FindStorages();
    return std::move(problem_);
  }

 private:
  /// A part of a storage and the step that writes it.
  struct Write {
    std::uint64_t offset;
    std::uint64_t end;
    StepId step;
    auto operator<=>(const Write&) const = default;
  };

  bool IsActivation(BufferId id) const {
    return id != lower::kNoBuffer && schedule_.buffers[schedule_.Storage(id)].is_activation();
  }

  void FindOperands() {
    for (const Step& step : schedule_.steps) {
      std::vector<BufferId>& read = reads_.emplace_back();
      std::vector<BufferId>& written = writes_.emplace_back();
      std::vector<BufferId>& storages = problem_.storages.emplace_back();
      lower::AppendBuffersRead({&step, 1}, read);
      lower::AppendBuffersWritten({&step, 1}, written);
      for (std::vector<BufferId>* ids : {&read, &written}) {
        std::erase_if(*ids, [this](BufferId id) { return !IsActivation(id); });
        SortUnique(*ids);
        for (const BufferId id : *ids) storages.push_back(schedule_.Storage(id));
      }
      SortUnique(storages);
      problem_.stages.push_back(step.stage);
    }
  }

  void FindSources() {
    std::vector<std::vector<Write>> writes(schedule_.buffers.size());
    for (StepId s = 0; s < schedule_.steps.size(); ++s) {
      for (const BufferId id : writes_[s]) {
        const lower::Buffer& buffer = schedule_.buffers[id];
        const std::uint64_t end = buffer.view_offset + buffer.type.bytes();
        writes[schedule_.Storage(id)].push_back({buffer.view_offset, end, s});
      }
    }
    for (std::vector<Write>& of_storage : writes) SortUnique(of_storage);
    for (StepId s = 0; s < schedule_.steps.size(); ++s) {
      std::vector<StepId>& sources = problem_.sources.emplace_back();
      for (const BufferId id : reads_[s]) AppendSources(id, writes[schedule_.Storage(id)], sources);
      SortUnique(sources);
      std::erase(sources, s);
    }
  }

  /// The steps that write some of a buffer. Writes do not overlap, but for those of one step.
  void AppendSources(BufferId id, const std::vector<Write>& writes,
                     std::vector<StepId>& sources) const {
    const lower::Buffer& buffer = schedule_.buffers[id];
    const std::uint64_t end = buffer.view_offset + buffer.type.bytes();
    auto write = std::partition_point(writes.begin(), writes.end(),
                                      [&](const Write& w) { return w.end <= buffer.view_offset; });
    for (; write != writes.end() && write->offset < end; ++write) sources.push_back(write->step);
  }

  void FindStorages() {
    for (const lower::Buffer& buffer : schedule_.buffers) {
      problem_.bytes.push_back(static_cast<std::int64_t>(ArenaBytesOf(buffer)));
    }
    problem_.is_live.resize(schedule_.buffers.size(), false);
    problem_.other_users.resize(schedule_.buffers.size(), 0);
    for (const lower::Stream& input : schedule_.inputs) {
      if (IsActivation(input.buffer)) problem_.is_live[schedule_.Storage(input.buffer)] = true;
    }
    for (const lower::Stream& output : schedule_.outputs) {  // what users read is never free
      ++problem_.other_users[schedule_.Storage(output.buffer)];
      if (output.extent) ++problem_.other_users[schedule_.Storage(output.extent->buffer)];
    }
  }

  const Schedule& schedule_;
  ir::ListScheduleProblem problem_;
  std::vector<std::vector<BufferId>> reads_;   // of every step
  std::vector<std::vector<BufferId>> writes_;  // of every step
};

}  // namespace

void OrderSteps(Schedule& schedule) {
  const std::uint64_t given = LargestLiveSet(schedule);
  const std::vector<StepId> order = ir::ListSchedule(ProblemBuilder(schedule).Build());
  std::vector<Step> steps;
  steps.reserve(order.size());
  for (const StepId s : order) steps.push_back(std::move(schedule.steps[s]));
  schedule.steps.swap(steps);
  if (LargestLiveSet(schedule) < given) return;
  for (std::size_t i = 0; i < order.size(); ++i) steps[order[i]] = std::move(schedule.steps[i]);
  schedule.steps.swap(steps);
}

}  // namespace poprt::host
