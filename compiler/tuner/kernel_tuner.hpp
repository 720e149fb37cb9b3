#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/lower/schedule.hpp"
#include "compiler/tuner/timing_cache.hpp"
#include "compiler/tuner/workload.hpp"
#include "passes/decision.hpp"

/// Chooses between ways to compute something by measuring them here, instead of by the cost table.
/// The only part of the compiler whose results depend on the machine.
namespace poprt::tuner {

/// The microseconds of each workload; see MeasureWorkloads.
using Measure =
    std::function<absl::StatusOr<std::vector<double>>(std::span<const Workload> workloads)>;

/// What was decided, and what the cost table would have said.
struct TunedChoice {
  std::string what;
  int uses = 1;           ///< how often there was this to decide
  bool measured = false;  ///< now; otherwise the cache knew
  std::string expected;   ///< by the cost table
  std::string chosen;
  double expected_us = 0;  ///< for one use
  double chosen_us = 0;

  double GainMicroseconds() const { return uses * (expected_us - chosen_us); }
};

struct TuningReport {
  Machine machine;
  std::vector<TunedChoice> choices;  ///< equal ones joined, in the order in which they came up

  double GainMicroseconds() const;
};

/// The position of the least time, of the alternative to the expected one if that is worth it: it
/// must save more than measurements differ by and, if it stands later, that is has larger weights,
/// a tenth.
std::size_t WorthwhileInsteadOf(std::size_t expected, std::span<const double> microseconds);

/// Belongs to one compilation, of any number of graphs. Not thread-safe.
class KernelTuner {
 public:
  /// `warn` hears of what cannot be measured, which is decided by the cost table.
  KernelTuner(Machine machine, TimingCache cache, Measure measure,
              std::function<void(const std::string&)> warn);

  /// A passes::Decider: by the kernels that the node of each alternative would run.
  std::size_t Decide(const ir::Graph& graph, const passes::Decision& decision);

  /// The position of the workload to take, see WorthwhileInsteadOf; the expected one if they cannot
  /// be measured.
  std::size_t Fastest(const std::string& what, std::span<const Workload> workloads,
                      std::size_t expected);

  /// Whether the other schedule of the same graph is faster, by a tenth at least of the steps in
  /// which they differ. The names of both are for users.
  ///
  /// What these three decide is reported when it is kept.
  bool IsFaster(const std::string& what, const lower::Schedule& other,
                const std::string& other_name, const lower::Schedule& expected,
                const std::string& expected_name);

  /// What was decided since the last call. What is kept of it goes into the report; decisions on a
  /// program that nobody takes do not.
  std::vector<TunedChoice> TakeChoices() { return std::exchange(choices_, {}); }
  void Keep(std::span<const TunedChoice> choices);

  /// With all that was measured.
  const TimingCache& cache() const { return cache_; }
  const TuningReport& report() const { return report_; }

 private:
  TimingCache cache_;
  Measure measure_;
  std::function<void(const std::string&)> warn_;
  std::vector<TunedChoice> choices_;  ///< not taken yet
  TuningReport report_;
};

}  // namespace poprt::tuner
