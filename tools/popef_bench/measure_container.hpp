#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/popef_bench/bench_options.hpp"
#include "tools/popef_bench/loaded_container.hpp"
#include "tools/popef_bench/memory_use.hpp"
#include "tools/popef_bench/prediction.hpp"
#include "tools/requests/measurement.hpp"

namespace poprt::bench {

/// One graph; times in milliseconds.
struct GraphReport {
  std::string graph;               ///< empty for a model that is not fused
  double first_run = 0;            ///< the first request of the process to this graph
  requests::Measurement latency;   ///< of one client
  double requests_per_second = 0;  ///< of all clients; 0 if there are none
  double repeated = 0;             ///< median latency of A, A, A, ...
  double alternating = 0;          ///< and of A, B, ..., A, B, ...; both 0 for a single graph
};

/// What a user of the container waits for and has to pay; times in milliseconds.
struct ContainerReport {
  int threads = 1;                   ///< that kernels share
  std::string_view instruction_set;  ///< of the tuned kernels: "portable", "avx2", "avx512"
  double load = 0;  ///< from the path to a runner that is ready, the first in the process
  LoadTimes parts;  ///< of later loads, medians
  std::vector<GraphReport> graphs;
  std::vector<Prediction> predictions;  ///< of all graphs of the container, on the IPU
  MemoryUse start;
  MemoryUse loaded;
  MemoryUse first_run;  ///< of all graphs
  MemoryUse steady;     ///< after all measurements, with the requests of all clients

  /// Time of alternating requests over that of repeated ones, of all graphs together; nothing for
  /// a single graph.
  std::optional<double> SwitchingRatio() const;
};

/// Loads and runs the container. Throws std::runtime_error that says what does not fit.
ContainerReport MeasureContainer(const BenchOptions& options);

}  // namespace poprt::bench
