#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "poprt/executable.hpp"

namespace poprt::bench {

/// What the compiler predicted for a graph on the IPU: docs/ipu_report.md. Nothing of it is
/// measured.
struct Prediction {
  std::string graph;
  std::string platform;
  std::uint64_t cycles = 0;  ///< of a batch
  double batch = 0;          ///< milliseconds
  double latency = 0;        ///< milliseconds
  double samples_per_second = 0;
};

/// One for each graph, by index; none if the container has no plan. Throws std::runtime_error if
/// its plan is damaged.
std::vector<Prediction> PredictionsOf(const Executable& executable);

}  // namespace poprt::bench
