#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/popef_bench/bench_options.hpp"
#include "tools/popef_bench/loaded_container.hpp"
#include "tools/popef_bench/step_recorder.hpp"

namespace poprt::bench {

/// What a step costs in one run, without the steps inside it; times in microseconds.
struct StepProfile {
  const program::Step* step = nullptr;
  std::size_t position = 0;  ///< in the program, steps inside steps counted too
  std::uint32_t stage = 0;   ///< of the pipeline; that of the step around it
  std::size_t calls = 0;     ///< in a run
  double median = 0;         ///< of all runs
  double least = 0;
  double bytes = 0;                  ///< of its operands, for all calls
  std::optional<double> operations;  ///< for all calls, where they are known
};

/// Where the time of one graph goes.
struct Profile {
  const program::Branch* branch = nullptr;
  std::size_t runs = 0;
  double median = 0;               ///< of a run, copying inputs and outputs included
  double least = 0;                ///< of the fastest run
  std::vector<StepProfile> steps;  ///< in the order of the program; only those that ran
  std::vector<StepEvent> events;   ///< of the fastest run
};

/// As the function of the same name for requests, for the graphs at `branches`.
void CheckFileOptions(const program::Program& program, std::span<const std::size_t> branches,
                      const BenchOptions& options);

/// Runs graph `branch` of the container alone, as often as the options say.
Profile ProfileBranch(LoadedContainer& container, std::size_t branch, const BenchOptions& options);

}  // namespace poprt::bench
