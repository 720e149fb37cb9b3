#pragma once

#include <array>
#include <cstddef>
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

/// Partials of an output that a tile adds in each stage, an exchange and a reduction; none when
/// there is but one partial.
struct ReductionStages {
  std::array<std::uint64_t, 3> depths = {};
  std::size_t count = 0;

  const std::uint64_t* begin() const { return depths.data(); }
  const std::uint64_t* end() const { return depths.data() + count; }
};

/// How poplin adds `depth` partials: at once, or in the 2 or 3 stages that receive fewest pieces
/// (enable_multi_stage_reduce).
ReductionStages PlanReduction(std::uint64_t depth, bool multi_stage);

}  // namespace poprt::ipu
