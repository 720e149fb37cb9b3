#pragma once

#include <cstdint>

#include "compiler/ipu/cost/number_format.hpp"

/// Reduction vertices (section 2.8).
namespace poprt::ipu {

/// How partials and outputs lie on the tile.
enum class ReductionLayout : std::uint8_t {
  kStrided,     ///< the outputs are contiguous, the partials of one a stride apart
  kContiguous,  ///< the partials of an output are contiguous: reducing rows
  kScalar,      ///< all partials are contiguous and go to one output
  kGeneral,     ///< pointers to regions of any size
};

/// What one tile reduces: `partials` elements to each of `outputs`.
struct ReductionVertex {
  NumberFormat input = NumberFormat::kFloat16;
  NumberFormat output = NumberFormat::kFloat16;
  ReductionLayout layout = ReductionLayout::kContiguous;
  std::uint64_t outputs = 0;
  std::uint64_t partials = 0;
  bool log_add = false;      ///< adds exponentials; everything else costs alike
  bool interleaved = false;  ///< the partials lie in interleaved memory
};

/// Cycles of the vertex on a tile, its outputs (kScalar: its partials) divided among the workers; 0
/// when there is nothing to reduce.
std::uint64_t ReductionVertexCycles(const Target& target, const ReductionVertex& vertex);

}  // namespace poprt::ipu
