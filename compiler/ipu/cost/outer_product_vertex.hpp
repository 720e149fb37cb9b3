#pragma once

#include <cstdint>

#include "compiler/ipu/cost/number_format.hpp"

/// The vertex for products with one input channel (section 2.4).
namespace poprt::ipu {

/// A column of `rows` elements times a row of `channel_groups` x `group_channels` elements.
struct OuterProductVertex {
  NumberFormat format = NumberFormat::kFloat16;  ///< kFloat16 or kFloat32
  std::uint64_t rows = 0;
  std::uint64_t channel_groups = 1;
  std::uint64_t group_channels = 16;
};

/// Cycles of the vertex on a tile, its rows divided among the workers; 0 when there is nothing to
/// do.
std::uint64_t OuterProductVertexCycles(const Target& target, const OuterProductVertex& vertex);

}  // namespace poprt::ipu
