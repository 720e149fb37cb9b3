#pragma once

#include <span>
#include <vector>

#include "poprt/runtime/base_runner.hpp"
#include "tools/requests/request_data.hpp"

namespace poprt::requests {

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
/// thread the same number, all on its own part of the requests, of which there is a multiple of
/// `threads`). Warms up first. Throws what the first request that fails throws.
Measurement Measure(runtime::BaseRunner& runner, std::span<const Request> requests, int iterations,
                    int threads);

}  // namespace poprt::requests
