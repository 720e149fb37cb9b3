#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.hpp"

namespace poprt::ipu {

/// Makes every node of the graph say on which IPU and in which stage it runs, if at least one does:
/// who says only one of the two, or nothing, takes what is missing from the producer of its inputs
/// that is in the last stage (there on the highest IPU), or else 0. With `ipus_are_stages` a node
/// that says an IPU and no stage is in the stage of that number. Nodes of regions run where the
/// node around them does. Returns how many IPUs that takes, 1 when no node says anything.
/// InvalidArgument lists all nodes on other IPUs than [0, num_ipus), all that read what a later
/// stage makes, and all stages on several IPUs.
absl::StatusOr<std::uint32_t> PlaceNodes(ir::Graph& graph, std::uint32_t num_ipus,
                                         bool ipus_are_stages = false);

}  // namespace poprt::ipu
