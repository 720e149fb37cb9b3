#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace poprt::bench {

/// What the command line asks for.
struct BenchOptions {
  std::string popef;
  std::optional<int> index;    ///< of the only graph to run; all of a fused model
  double seconds = 1;          ///< that each measurement takes, about
  std::optional<int> runs;     ///< of each measurement, instead of `seconds`
  int clients = 2;             ///< 0: no throughput
  std::optional<int> threads;  ///< of the pool that kernels share
  std::uint32_t seed = 1;
  std::vector<std::string> inputs;   ///< NAME=FILE
  std::vector<std::string> outputs;  ///< NAME=FILE
  bool any_package = false;          ///< run containers of other versions of the compiler too
  bool profile = false;
  bool cpu_time = false;  ///< profile by the processor time of the one thread that runs
  std::string trace;      ///< file for the trace; empty: none
  bool json = false;
};

}  // namespace poprt::bench
