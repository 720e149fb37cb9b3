#pragma once

#include <algorithm>

#include "tools/popef_bench/bench_options.hpp"

namespace poprt::bench {

/// How often to run something that takes `expected` milliseconds: as the options say, or for about
/// as long as they say, at least five times.
inline int RunsFor(double expected, const BenchOptions& options) {
  constexpr double kFewest = 5;
  constexpr double kMost = 100'000;
  if (options.runs) return *options.runs;
  const double wanted = options.seconds * 1000 / std::max(expected, 1e-3);
  return static_cast<int>(std::clamp(wanted, kFewest, kMost));
}

}  // namespace poprt::bench
