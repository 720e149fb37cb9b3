#pragma once

#include <cstdint>

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"

namespace poprt::kernels {

/// How many of the `left` >= 1 panels, whose products with `rows` rows are wanted, one call of a
/// tile kernel should take.
inline int PanelsAtOnce(const GemmMicroKernels& kernels, std::int64_t rows, std::int64_t left) {
  int count = rows <= kTileRows ? kernels.panels_of_few_rows : kernels.panels;
  while (count > left) count /= 2;
  return count;
}

}  // namespace poprt::kernels
