#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// Memory of a program that has these graphs, of which one runs at a time (sections 3.3, 3.5 and
/// 7.1.6). On every tile: weights, equal ones once (TensorPlan::shared); activations, temporaries
/// and host buffers of the graph that needs most there; code once for all that use it; the stack.
/// The fullest tile of real programs has at least 1.05 times the mean (section 3.5): when the
/// mappings give less, every compute tile has gaps of what is missing. A tile overflows when what
/// lies on it and the gaps exceed its memory, or its code exceeds the memory that code can lie in
/// (section 1.3).
MemoryPlan PlanMemory(const std::vector<GraphPlan>& graphs, const Target& target,
                      const TilePartition& partition, const PlanOptions& options);

/// Bytes of that category.
std::uint64_t BytesOf(const TileMemory& tile, MemoryCategory category);

/// Bytes with the gaps between them: what the tile needs.
std::uint64_t NeededBytes(const TileMemory& tile);

/// Bytes that must lie in the executable region: code of vertices, exchange and control.
std::uint64_t ExecutableBytes(const TileMemory& tile);

}  // namespace poprt::ipu
