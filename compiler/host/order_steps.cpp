#include "compiler/host/order_steps.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "compiler/host/lifetimes.hpp"

namespace poprt::host {
namespace {

using lower::BufferId;
using lower::Schedule;
using lower::Step;
using StepId = std::uint32_t;

/// What steps and the steps inside them write.
void AppendBuffersWritten(std::span<const Step> steps, std::vector<BufferId>& written) {
  for (const Step& step : steps) {
    written.insert(written.end(), step.outputs.begin(), step.outputs.end());
    for (const lower::Body& body : step.bodies) {
      written.insert(written.end(), body.inputs.begin(), body.inputs.end());
      AppendBuffersWritten(body.steps, written);
    }
  }
}

template <typename T>
void SortUnique(std::vector<T>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

class ListScheduler {
 public:
  explicit ListScheduler(const Schedule& schedule)
      : schedule_(schedule),
        waits_for_(schedule.steps.size(), 0),
        successors_(schedule.steps.size()),
        storages_(schedule.steps.size()),
        growth_(schedule.steps.size(), 0),
        users_(schedule.buffers.size()),
        users_left_(schedule.buffers.size(), 0),
        is_live_(schedule.buffers.size(), false) {
    FindOperands();
    FindDependencies();
    FindGrowth();
  }

  /// Steps in their new order.
  std::vector<StepId> Run() {
    std::vector<StepId> order;
    order.reserve(storages_.size());
    for (StepId s = 0; s < storages_.size(); ++s) {
      if (waits_for_[s] == 0) ready_.emplace(growth_[s], s);
    }
    while (!ready_.empty()) {
      const StepId next = ready_.begin()->second;
      ready_.erase(ready_.begin());
      waits_for_[next] = kTaken;
      order.push_back(next);
      for (const BufferId storage : storages_[next]) UseUp(storage, next);
      for (const StepId successor : successors_[next]) {
        if (--waits_for_[successor] == 0) ready_.emplace(growth_[successor], successor);
      }
    }
    return order;
  }

 private:
  static constexpr std::int64_t kTaken = -1;

  /// A part of a storage and the step that writes it.
  struct Write {
    std::uint64_t offset;
    std::uint64_t end;
    StepId step;
    auto operator<=>(const Write&) const = default;
  };

  std::int64_t BytesOf(BufferId storage) const {
    return static_cast<std::int64_t>(ArenaBytesOf(schedule_.buffers[storage]));
  }

  bool IsActivation(BufferId id) const {
    return id != lower::kNoBuffer && schedule_.buffers[schedule_.Storage(id)].is_activation();
  }

  void FindOperands() {
    for (StepId s = 0; s < schedule_.steps.size(); ++s) {
      std::vector<BufferId>& read = reads_.emplace_back();
      std::vector<BufferId>& written = writes_.emplace_back();
      lower::AppendBuffersRead({&schedule_.steps[s], 1}, read);
      AppendBuffersWritten({&schedule_.steps[s], 1}, written);
      for (std::vector<BufferId>* ids : {&read, &written}) {
        std::erase_if(*ids, [this](BufferId id) { return !IsActivation(id); });
        SortUnique(*ids);
        for (const BufferId id : *ids) storages_[s].push_back(schedule_.Storage(id));
      }
      SortUnique(storages_[s]);
      for (const BufferId storage : storages_[s]) users_[storage].push_back(s);
    }
  }

  void FindDependencies() {
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
      std::vector<StepId> sources;
      for (const BufferId id : reads_[s]) AppendSources(id, writes[schedule_.Storage(id)], sources);
      SortUnique(sources);
      std::erase(sources, s);
      waits_for_[s] = static_cast<std::int64_t>(sources.size());
      for (const StepId source : sources) successors_[source].push_back(s);
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

  /// What each step would add to the memory in use if it were the first.
  void FindGrowth() {
    for (const lower::Stream& input : schedule_.inputs) {
      if (IsActivation(input.buffer)) is_live_[schedule_.Storage(input.buffer)] = true;
    }
    for (BufferId id = 0; id < users_.size(); ++id) users_left_[id] = users_[id].size();
    for (const lower::Stream& output : schedule_.outputs) {  // what users read is never free
      ++users_left_[schedule_.Storage(output.buffer)];
      if (output.extent) ++users_left_[schedule_.Storage(output.extent->buffer)];
    }
    for (StepId s = 0; s < storages_.size(); ++s) {
      for (const BufferId storage : storages_[s]) {
        if (!is_live_[storage]) growth_[s] += BytesOf(storage);
        if (users_left_[storage] == 1) growth_[s] -= BytesOf(storage);
      }
    }
  }

  /// Takes note that a step that uses the storage has run.
  void UseUp(BufferId storage, StepId step) {
    if (!is_live_[storage]) {
      is_live_[storage] = true;
      for (const StepId user : users_[storage]) {
        if (user != step) Shrink(user, BytesOf(storage));
      }
    }
    if (--users_left_[storage] != 1) return;
    const std::vector<StepId>& users = users_[storage];
    const auto last = std::find_if(users.begin(), users.end(),
                                   [this](StepId user) { return waits_for_[user] != kTaken; });
    if (last != users.end()) Shrink(*last, BytesOf(storage));
  }

  void Shrink(StepId step, std::int64_t bytes) {
    const bool is_ready = ready_.erase({growth_[step], step}) > 0;
    growth_[step] -= bytes;
    if (is_ready) ready_.emplace(growth_[step], step);
  }

  const Schedule& schedule_;
  // For every step:
  std::vector<std::vector<BufferId>> reads_;
  std::vector<std::vector<BufferId>> writes_;
  std::vector<std::int64_t> waits_for_;  // steps that it needs and that have not run
  std::vector<std::vector<StepId>> successors_;
  std::vector<std::vector<BufferId>> storages_;
  std::vector<std::int64_t> growth_;
  // For every storage:
  std::vector<std::vector<StepId>> users_;
  std::vector<std::size_t> users_left_;
  std::vector<bool> is_live_;
  std::set<std::pair<std::int64_t, StepId>> ready_;
};

}  // namespace

void OrderSteps(Schedule& schedule) {
  const std::uint64_t given = LargestLiveSet(schedule);
  const std::vector<StepId> order = ListScheduler(schedule).Run();
  std::vector<Step> steps;
  steps.reserve(order.size());
  for (const StepId s : order) steps.push_back(std::move(schedule.steps[s]));
  schedule.steps.swap(steps);
  if (LargestLiveSet(schedule) < given) return;
  for (std::size_t i = 0; i < order.size(); ++i) steps[order[i]] = std::move(schedule.steps[i]);
  schedule.steps.swap(steps);
}

}  // namespace poprt::host
