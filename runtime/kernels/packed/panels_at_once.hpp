#pragma once

#include <cstdint>

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"

namespace poprt::kernels {

/// `most` panels, a power of two, or as many as `left` >= 1 of them allow.
inline int PanelsOf(std::int64_t left, int most) {
  while (most > left) most /= 2;
  return most;
}

/// How many of the `left` >= 1 panels, whose products with `rows` rows are wanted, one call of a
/// tile kernel should take.
inline int PanelsAtOnce(const GemmMicroKernels& kernels, std::int64_t rows, std::int64_t left) {
  return PanelsOf(left, rows <= kTileRows ? int{kMostTilePanels} : kernels.panels);
}

}  // namespace poprt::kernels
