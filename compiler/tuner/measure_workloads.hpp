#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/tuner/workload.hpp"
#include "runtime/kernels/thread_pool.hpp"

namespace poprt::tuner {

/// When to stop. Rounds go on until the time is up, but are never fewer or more than this.
struct MeasureLimits {
  double seconds = 0.3;
  int fewest_rounds = 7;
  int most_rounds = 50;
};

/// The microseconds that each workload takes on the threads of the pool: the sum over its calls of
/// the least time of any round. In every round all workloads take turns, so that what else the
/// machine does meets them alike. Every call finds its constants in no cache, as in a network whose
/// weights are larger, and what other steps computed in the caches.
///
/// Floating-point operands that are not constants hold numbers in [-1, 1), all others zeros.
/// InvalidArgument names a call that its kernel refuses.
absl::StatusOr<std::vector<double>> MeasureWorkloads(std::span<const Workload> workloads,
                                                     kernels::ThreadPool& pool,
                                                     const MeasureLimits& limits = {});

}  // namespace poprt::tuner
