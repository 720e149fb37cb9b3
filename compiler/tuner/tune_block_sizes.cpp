#include "compiler/tuner/tune_block_sizes.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/tuner/workload.hpp"
#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::tuner {
namespace {

using kernels::kBlockSizes;

/// Measurements could go in a circle for ever.
constexpr int kMostMoves = 3;

/// A use in which the kernel cuts its work as that attribute says, as the kernel writes it. Nothing
/// where the kernel refuses, which needs memory for every block.
std::optional<Workload> CutInto(const Ints& sizes, KernelUse use) try {
  kernels::KernelCall call{.inputs = {}, .outputs = use.outputs, .attributes = use.attributes};
  call.attributes.set(kBlockSizes, sizes);
  for (const TimedInput& input : use.inputs) call.inputs.push_back(input.type);
  const Ints cut = kernels::FindKernel(use.kernel)->bind(call).block_sizes;
  use.attributes.set(kBlockSizes, cut);
  return Workload{.name = absl::StrJoin(cut, " x "), .uses = {std::move(use)}};
} catch (const kernels::KernelError&) {
  return std::nullopt;
}

/// Those of different names, the last of which is the use as it is.
std::vector<Workload> Candidates(const KernelUse& use) {
  const Ints sizes = use.attributes.get_ints(kBlockSizes);
  Workload unchanged{.name = absl::StrJoin(sizes, " x "), .uses = {use}};
  std::vector<Workload> candidates;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (const std::int64_t size : {(sizes[i] + 1) / 2, sizes[i] * 2}) {
      Ints changed = sizes;
      changed[i] = size;
      std::optional<Workload> candidate = CutInto(changed, use);
      if (candidate && candidate->name != unchanged.name) {
        candidates.push_back(*std::move(candidate));
      }
    }
  }
  candidates.push_back(std::move(unchanged));
  return candidates;
}

class BlockSizeTuning {
 public:
  BlockSizeTuning(const lower::Schedule& schedule, KernelTuner& tuner)
      : schedule_(schedule), tuner_(tuner) {}

  void Run(std::vector<lower::Step>& steps) {
    for (lower::Step& step : steps) {
      for (lower::Body& body : step.bodies) Run(body.steps);
      if (step.attributes.find(kBlockSizes) == nullptr) continue;
      for (int moves = 0; moves < kMostMoves && Improve(step); ++moves) {
      }
      KeepMoves(tuner_.TakeChoices());
    }
  }

 private:
  /// Whether there are faster block sizes, which are the step's then.
  bool Improve(lower::Step& step) {
    const KernelUse use = UseOf(schedule_, step);
    const std::vector<Workload> candidates = Candidates(use);
    const std::size_t last = candidates.size() - 1;
    if (last == 0) return false;
    const std::string what =
        absl::StrCat("blocks of ", use.kernel, ", ", ToString(use.inputs[0].type), " to ",
                     ToString(use.outputs[0]));
    const std::size_t fastest = tuner_.Fastest(what, candidates, last);
    step.attributes = candidates[fastest].uses[0].attributes;
    return fastest != last;
  }

  /// The moves of one step are one choice; the last may have been in vain.
  void KeepMoves(std::vector<TunedChoice> moves) {
    std::erase_if(moves, [](const TunedChoice& move) { return move.chosen == move.expected; });
    if (moves.empty()) return;
    TunedChoice whole = moves.front();
    whole.chosen = moves.back().chosen;
    whole.chosen_us = moves.back().chosen_us;
    tuner_.Keep({&whole, 1});
  }

  const lower::Schedule& schedule_;
  KernelTuner& tuner_;
};

}  // namespace

void TuneBlockSizes(lower::Schedule& schedule, KernelTuner& tuner) {
  BlockSizeTuning(schedule, tuner).Run(schedule.steps);
}

}  // namespace poprt::tuner
