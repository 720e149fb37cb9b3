#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/packed/tile_kernels.hpp"

namespace poprt::kernels {

/// Rows of a matrix: element (r, k) is data[r * stride + k].
template <typename C>
struct RecurrentRows {
  const C* data;
  std::int64_t stride;
  std::int64_t rows;
};

/// A panel of PackRecurrentWeights: depth x 16 of C, or float16 bits for float.
struct RecurrentPanel {
  const void* data;
  std::int64_t depth;
  bool half;
};

/// A panel of this depth stays in the first-level cache while many rows are multiplied by it.
inline constexpr std::int64_t kRecurrentDepth = 384;

/// tile[r][0..16) += A[r] * panel, the tile being rows x 16 without gaps.
inline void AddProduct(const TileKernels& kernels, const RecurrentRows<float>& a,
                       const RecurrentPanel& panel, float* tile) {
  const RowTiles tiles(a.rows);
  const std::int64_t step = a.rows <= kTileRows ? panel.depth : kRecurrentDepth;
  for (std::int64_t k = 0; k < panel.depth; k += step) {
    const std::int64_t depth = std::min(step, panel.depth - k);
    const std::int64_t at = k * kPanel;
    for (std::int64_t t = 0; t < tiles.count(); ++t) {
      const std::int64_t row = tiles.begin(t);
      const int rows = static_cast<int>(tiles.size(t));
      const float* from = a.data + row * a.stride + k;
      float* const to = tile + row * kPanel;
      if (panel.half) {
        const auto* weights = static_cast<const std::uint16_t*>(panel.data) + at;
        kernels.row_major_f16(rows, from, a.stride, weights, depth, weights + depth * kPanel, to,
                              true);
      } else {
        const auto* weights = static_cast<const float*>(panel.data) + at;
        kernels.row_major_f32(rows, from, a.stride, weights, depth, weights + depth * kPanel, to,
                              true);
      }
    }
  }
}

inline void AddProduct(const TileKernels&, const RecurrentRows<double>& a,
                       const RecurrentPanel& panel, double* tile) {
  for (std::int64_t row = 0; row < a.rows; ++row, tile += kPanel) {
    const double* from = a.data + row * a.stride;
    const auto* weights = static_cast<const double*>(panel.data);
    double sums[kPanel];
    std::copy_n(tile, kPanel, sums);
    for (std::int64_t k = 0; k < panel.depth; ++k, weights += kPanel) {
      for (std::int64_t c = 0; c < kPanel; ++c) sums[c] += from[k] * weights[c];
    }
    std::copy_n(sums, kPanel, tile);
  }
}

}  // namespace poprt::kernels
