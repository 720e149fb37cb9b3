#include "compiler/lower/stages.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

namespace poprt::lower {
namespace {

/// The stages in which the parts of every buffer are written.
class WrittenStages {
 public:
  explicit WrittenStages(const Schedule& schedule)
      : schedule_(schedule), writes_(schedule.buffers.size()) {}

  /// The latest in which some of what the buffers hold has been written; at least 0.
  std::uint32_t LatestOf(const std::vector<BufferId>& ids) const {
    std::uint32_t latest = 0;
    for (const BufferId id : ids) {
      if (id == kNoBuffer) continue;
      for (const Write& write : writes_[schedule_.Storage(id)]) {
        if (write.begin < End(id) && Begin(id) < write.end) latest = std::max(latest, write.stage);
      }
    }
    return latest;
  }

  void Note(const std::vector<BufferId>& ids, std::uint32_t stage) {
    for (const BufferId id : ids) {
      if (id == kNoBuffer) continue;
      writes_[schedule_.Storage(id)].push_back({Begin(id), End(id), stage});
    }
  }

 private:
  struct Write {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t stage;
  };

  std::uint64_t Begin(BufferId id) const { return schedule_.buffers[id].view_offset; }
  std::uint64_t End(BufferId id) const { return Begin(id) + schedule_.buffers[id].type.bytes(); }

  const Schedule& schedule_;
  std::vector<std::vector<Write>> writes_;  ///< of every storage
};

}  // namespace

void OrderByStage(Schedule& schedule) {
  WrittenStages written(schedule);
  std::set<std::uint32_t> stages;
  for (Step& step : schedule.steps) {
    std::vector<BufferId> read;
    AppendBuffersRead({&step, 1}, read);
    step.stage = std::max(step.stage, written.LatestOf(read));
    stages.insert(step.stage);
    std::vector<BufferId> writes;
    AppendBuffersWritten({&step, 1}, writes);
    written.Note(writes, step.stage);
  }
  for (Step& step : schedule.steps) {
    step.stage = static_cast<std::uint32_t>(std::distance(stages.begin(), stages.find(step.stage)));
  }
  std::ranges::stable_sort(schedule.steps, {}, &Step::stage);
}

}  // namespace poprt::lower
