#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "compiler/lower/schedule.hpp"

namespace poprt::host {

/// Where the constants of all graphs stand in the weights of the container. Equal bytes stand there
/// once, whichever graphs and types they belong to.
struct WeightsPlan {
  /// For every schedule and every buffer of it; zero for buffers that are no constants.
  std::vector<std::vector<std::uint64_t>> offsets;
  /// What to write, in the order of offsets. Shares the elements of the schedules' constants.
  std::vector<std::pair<std::uint64_t, Tensor>> pieces;
  std::uint64_t bytes = 0;
  /// For every schedule, the bytes of the constants it reads, equal ones counted once.
  std::vector<std::uint64_t> bytes_of_graph;
};

/// Constants in the order of their first use. Looks at constants that a step or stream uses only.
WeightsPlan PlanWeights(std::span<const lower::Schedule> schedules);

}  // namespace poprt::host
