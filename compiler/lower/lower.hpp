#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.hpp"
#include "compiler/lower/schedule.hpp"
#include "compiler/lower/variables.hpp"

namespace poprt::lower {

/// Turns nodes into kernel calls, in their order. Operators that only rename memory (Reshape,
/// Squeeze, ...) become views. Steps have the stage that their node says, or 0 (OrderByStage).
/// Every kernel is bound once to see that it takes its operands: what cannot run is known now, not
/// at load. The last inputs of the graph are `weights`, which TakeWeights gave; they become
/// variables.
///
/// Constants of the graph are let go as soon as the last node that reads them is lowered, so that a
/// model is not held twice, as it came and packed.
///
/// InvalidArgument lists every node no kernel takes, with its operand types and the reason.
absl::StatusOr<Schedule> Lower(ir::Graph graph, std::vector<Weight> weights = {});

}  // namespace poprt::lower
