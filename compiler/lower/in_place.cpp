#include "compiler/lower/in_place.hpp"

#include <algorithm>
#include <limits>

#include "compiler/lower/control_buffers.hpp"
#include "compiler/lower/storage_map.hpp"

namespace poprt::lower {
namespace {

constexpr std::size_t kEnd = std::numeric_limits<std::size_t>::max();

class InPlace {
 public:
  explicit InPlace(Schedule& schedule)
      : schedule_(schedule),
        map_(schedule),
        last_uses_(schedule.buffers.size(), 0),
        can_move_(schedule.buffers.size(), false) {
    for (BufferId id = 0; id < schedule.buffers.size(); ++id) {
      can_move_[id] = schedule.buffers[id].is_activation() && Bytes(id) > 0;
    }
    for (const Stream& input : schedule.inputs) can_move_[schedule.Storage(input.buffer)] = false;
    ForControlBuffers(schedule.steps,
                      [&](BufferId id) { can_move_[schedule.Storage(id)] = false; });
    FindLastUses();
  }

  void Run() {
    for (std::size_t s = 0; s < schedule_.steps.size(); ++s) {
      const Step& step = schedule_.steps[s];
      if (step.outputs.empty() || step.outputs[0] == kNoBuffer) continue;
      const auto input = std::find_if(step.in_place_inputs.begin(), step.in_place_inputs.end(),
                                      [&](std::size_t i) { return MayOverwrite(step, s, i); });
      if (input != step.in_place_inputs.end()) Overwrite(step.inputs[*input], step.outputs[0]);
    }
    map_.Store(schedule_);
  }

 private:
  std::uint64_t Bytes(BufferId id) const { return schedule_.buffers[id].type.bytes(); }

  void FindLastUses() {
    const auto use = [&](BufferId id, std::size_t s) {
      if (id != kNoBuffer) last_uses_[schedule_.Storage(id)] = s;
    };
    for (std::size_t s = 0; s < schedule_.steps.size(); ++s) {
      std::vector<BufferId> touched;
      AppendBuffersRead({&schedule_.steps[s], 1}, touched);
      for (const BufferId id : touched) use(id, s);
      for (const BufferId id : schedule_.steps[s].outputs) use(id, s);
    }
    for (const Stream& output : schedule_.outputs) {
      use(output.buffer, kEnd);
      if (output.extent) use(output.extent->buffer, kEnd);
    }
  }

  /// A movable storage all of which `id` is.
  bool IsWhole(BufferId id) {
    const StorageMap::Place place = map_.Find(id);
    return can_move_[place.storage] && Bytes(place.storage) == Bytes(id);
  }

  bool MayOverwrite(const Step& step, std::size_t s, std::size_t i) {
    if (i >= step.inputs.size() || step.inputs[i] == kNoBuffer) return false;
    const BufferId output = step.outputs[0];
    const BufferId storage = map_.Find(step.inputs[i]).storage;
    if (!IsWhole(step.inputs[i]) || last_uses_[storage] != s) return false;
    if (!map_.IsStorage(output) || !can_move_[output] || Bytes(output) != Bytes(storage)) {
      return false;
    }
    const auto& allowed = step.in_place_inputs;
    for (std::size_t other = 0; other < step.inputs.size(); ++other) {
      const BufferId id = step.inputs[other];
      if (id == kNoBuffer || map_.Find(id).storage != storage) continue;
      if (!IsWhole(id) || std::find(allowed.begin(), allowed.end(), other) == allowed.end()) {
        return false;
      }
    }
    return true;
  }

  void Overwrite(BufferId input, BufferId output) {
    const BufferId storage = map_.Find(input).storage;
    map_.Put(output, storage, 0);
    last_uses_[storage] = std::max(last_uses_[storage], last_uses_[output]);
  }

  Schedule& schedule_;
  StorageMap map_;
  std::vector<std::size_t> last_uses_;  // of storages: the last step, counted on the top level
  std::vector<bool> can_move_;          // of storages
};

}  // namespace

void ComputeInPlace(Schedule& schedule) { InPlace(schedule).Run(); }

}  // namespace poprt::lower
