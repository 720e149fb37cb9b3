#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// Splits the operators of every graph, in their order, into `stages` stages that follow each other
/// on IPUs 0, 1, ...: the slowest, with what it receives, takes as little as can be while the
/// fullest tile of each has room (PlanMemory); of the splits that are as fast it is the one whose
/// fullest stage needs least. Where none fits, time alone decides and the memory plan will tell
/// what does not fit. A graph of fewer operators has fewer stages. Adds the exchanges between IPUs.
/// All operators have been on IPU 0 in stage 0.
void ShardOperators(const Target& target, const Platform& platform, const TilePartition& partition,
                    const PlanOptions& options, std::uint32_t stages,
                    std::vector<GraphPlan>& graphs);

/// What every IPU lacks on the tile that lacks most: "IPU 1 lacks 4096 bytes on a tile"; empty if
/// all fits.
std::string MissingMemory(const Plan& plan);

/// A table of the stages of every graph: IPU, operators, cycles, fullest tile of the IPU. Lines
/// end with a line feed.
std::string StageTable(const Plan& plan);

}  // namespace poprt::ipu
