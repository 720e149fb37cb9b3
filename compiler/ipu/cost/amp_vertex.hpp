#pragma once

#include <cstdint>

#include "compiler/ipu/cost/conv_units.hpp"

/// The vertex that multiplies matrices and 1x1 convolutions (sections 2.1 and 2.2).
namespace poprt::ipu {

/// What one tile multiplies: `rows` x input channels by input channels x output channels, once for
/// each group.
struct AmpVertex {
  ProductFormat format = {};
  bool load_128bit = false;       ///< use_128bit_conv_unit_load
  std::uint64_t rows = 0;         ///< output positions: rows x batch
  std::uint64_t in_groups = 1;    ///< groups of ConvInputGroup channels
  std::uint64_t out_groups = 1;   ///< groups of `out_group_channels`
  std::uint64_t conv_groups = 1;  ///< products one after the other
  std::uint64_t out_group_channels = 16;
};

/// Cycles of the vertex on a tile; 0 when there is nothing to multiply. The target has units for
/// the format.
std::uint64_t AmpVertexCycles(const Target& target, const AmpVertex& vertex);

}  // namespace poprt::ipu
