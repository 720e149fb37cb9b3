#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/graph.hpp"

namespace poprt::frontend {

/// The body of a loop as a graph, and what the loop starts with.
struct LoopBody {
  const ir::Graph* graph = nullptr;
  ir::ValueId iteration = ir::kAbsent;  ///< an int64 scalar
  ir::ValueId condition = ir::kAbsent;  ///< a bool scalar, true at first
  std::vector<ir::ValueId> carried = {};
  std::vector<const Tensor*> first = {};  ///< carried values at first; null if they are not known
  std::vector<ir::ValueId> next = {};     ///< carried values after an iteration
  ir::ValueId goes_on = ir::kAbsent;      ///< whether another iteration follows
};

/// How often the loop runs, at most `limit` times, where that follows from what is known when
/// compiling: from counters, as while loops of TensorFlow have them, and not from data. Nothing
/// where it does not, or where the loop goes on behind 10'000 iterations without being done.
std::optional<std::int64_t> IterationsOf(const LoopBody& body, std::optional<std::int64_t> limit);

}  // namespace poprt::frontend
