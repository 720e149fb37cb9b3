#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/device/step_observer.hpp"
#include "tools/popef_bench/stopwatch.hpp"

namespace poprt::bench {

/// A step that ran, in nanoseconds from the start of its run.
struct StepEvent {
  const program::Step* step = nullptr;
  std::uint32_t stage = 0;  ///< of the pipeline; that of the step around it
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t inside = 0;  ///< of it, in steps inside the step
};

/// Writes down when the steps of one run began and ended.
class StepRecorder : public device::StepObserver {
 public:
  explicit StepRecorder(Clock clock) : clock_(clock), watch_(clock) {}

  /// Forgets the run before.
  void Start();
  void Begin(const program::Step& step) override;
  void End(const program::Step& step) override;

  /// Nanoseconds since Start.
  std::int64_t Elapsed() const { return watch_.Nanoseconds(); }
  /// In the order in which they began.
  const std::vector<StepEvent>& events() const { return events_; }

 private:
  Clock clock_;
  Stopwatch watch_;
  std::vector<StepEvent> events_;
  std::vector<std::size_t> open_;
};

}  // namespace poprt::bench
