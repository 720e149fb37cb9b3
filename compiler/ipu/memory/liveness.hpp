#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ipu/memory/tile_space.hpp"
#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// Memory of one graph that is not in use all the time: activations, temporaries of its operators
/// and, for as long as the graph runs, host buffers.
struct GraphLiveness {
  std::vector<std::uint64_t> peak = {};           ///< of every tile, over all operators
  std::vector<std::uint32_t> peak_operator = {};  ///< the first one at which a tile reaches it
  std::vector<LivenessPoint> points = {};         ///< of every operator, temporaries included
};

/// An operator needs what is live while it runs and the temporaries of the step that needs most.
/// What the host writes or reads on I/O tiles is live all the time (IsHostBuffer).
/// O(operators * tiles).
GraphLiveness FindLiveness(const GraphPlan& graph, const TileSpace& space);

}  // namespace poprt::ipu
