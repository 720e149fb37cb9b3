#pragma once

#include <cstdint>

#include "compiler/ipu/cost/number_format.hpp"

/// Adding up what tiles computed of the same outputs of a product (section 2.5).
namespace poprt::ipu {

/// What one tile adds up: `depth` partials of each of `outputs`.
struct PartialsReduction {
  std::uint64_t depth = 1;    ///< in-channel splits x kernel splits
  std::uint64_t outputs = 0;  ///< of this tile, after the scatter
  bool float_partials = false;
  bool float_outputs = false;
  bool single_input = true;  ///< the partials lie in one region
  bool fast_reduce = false;  ///< enable_fast_reduce: that region is interleaved
};

/// Cycles of the vertex on a tile, in one stage; with depth 1 those of a cast, 0 when there is
/// nothing to cast.
std::uint64_t PartialsReductionVertexCycles(const Target& target,
                                            const PartialsReduction& reduction);

/// Stages in which `depth` partials are added (enable_multi_stage_reduce): 1 to 3. Each stage is an
/// exchange and a reduction.
std::uint64_t ReductionStages(std::uint64_t depth, bool multi_stage);

/// Partials that one tile adds in each of `stages` stages: about the stages-th root of `depth`.
std::uint64_t StageDepth(std::uint64_t depth, std::uint64_t stages);

}  // namespace poprt::ipu
