#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// A tensor, or a step with its temporaries, and what it needs on one tile.
struct TileContent {
  std::string name;
  std::uint64_t bytes = 0;
  ElementType element_type = ElementType::kUndefined;  ///< of a tensor
};

/// What lies on a tile when it is fullest. Each list has the largest first.
struct TileContents {
  std::vector<TileContent> weights = {};      ///< of all graphs
  std::vector<TileContent> live = {};         ///< activations and host buffers, at that operator
  std::vector<TileContent> temporaries = {};  ///< of the steps of that operator, one at a time
};

/// `tile` counts over all IPUs, as MemoryPlan::tiles does.
TileContents ContentsOf(const Plan& plan, std::uint32_t tile);

/// Activations, host buffers and temporaries on a tile at every operator of the graph that fills it
/// most; `plan` has graphs.
std::vector<std::uint64_t> BytesAtOperators(const Plan& plan, std::uint32_t tile);

/// The operator at which a tile is fullest; nullptr in a program without operators.
const OperatorPlan* PeakOperator(const Plan& plan, std::uint32_t tile);

}  // namespace poprt::ipu
