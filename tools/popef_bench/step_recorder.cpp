#include "tools/popef_bench/step_recorder.hpp"

namespace poprt::bench {

void StepRecorder::Start() {
  events_.clear();
  open_.clear();
  watch_ = Stopwatch(clock_);
}

// The clock is read last here and first in End: what the recorder itself does is no part of a step.
void StepRecorder::Begin(const program::Step& step) {
  const std::uint32_t stage = open_.empty() ? step.stage : events_[open_.front()].stage;
  open_.push_back(events_.size());
  StepEvent& event = events_.emplace_back();
  event.step = &step;
  event.stage = stage;
  event.begin = Elapsed();
}

void StepRecorder::End(const program::Step& /*step*/) {
  const std::int64_t now = Elapsed();
  StepEvent& event = events_[open_.back()];
  event.end = now;
  open_.pop_back();
  if (!open_.empty()) events_[open_.back()].inside += event.end - event.begin;
}

}  // namespace poprt::bench
