#pragma once

#include <vector>

#include "tools/poprt_run_popef/workload.hpp"

namespace poprt::run_popef {

/// Times in milliseconds.
struct Measurement {
  std::vector<double> latencies;  ///< of every request, ascending
  double total = 0;

  double Max() const { return latencies.back(); }
  double Min() const { return latencies.front(); }
  double Average() const;
  double Percentile(double percent) const;
};

/// Runs the requests, synchronously on each of `threads` threads, `iterations` altogether (each
/// thread the same number). Warms up first. Throws what the first request that fails throws.
Measurement Measure(Workload& workload, int iterations, int threads);

}  // namespace poprt::run_popef
