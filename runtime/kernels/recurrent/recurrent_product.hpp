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

/// Elements of a weight's type that are 1 KiB: how far ahead of its own reading a panel is fetched
/// that is read once.
template <typename W>
inline constexpr std::int64_t kFetchAhead = 1024 / static_cast<std::int64_t>(sizeof(W));

/// AddProduct for part of the depth, panel rows from `weights` on. `next` is the panel that is used
/// after this one: the last tiles fetch it, a quarter each (half of a float16 panel).
template <typename W, typename Multiply>
void AddPartOfProduct(Multiply multiply, const RecurrentRows<float>& a, const W* weights,
                      std::int64_t depth, const W* next, float* tile) {
  const RowTiles tiles(a.rows);
  const std::int64_t fetching = std::min<std::int64_t>(tiles.count(), sizeof(W));
  for (std::int64_t t = 0; t < tiles.count(); ++t) {
    const std::int64_t row = tiles.begin(t);
    const std::int64_t part = t + fetching - tiles.count();
    const W* ahead = tiles.count() == 1 ? weights + kFetchAhead<W>
                     : part < 0         ? weights
                                        : next + part * depth * kPanel / sizeof(W);
    multiply(static_cast<int>(tiles.size(t)), a.data + row * a.stride, a.stride, {weights}, depth,
             ahead, {tile + row * kPanel}, true);
  }
}

/// tile[r][0..16) += A[r] * panel, the tile being rows x 16 without gaps. `next` is what this
/// thread multiplies by afterwards.
inline void AddProduct(const TileKernels& kernels, RecurrentRows<float> a,
                       const RecurrentPanel& panel, const RecurrentPanel& next, float* tile) {
  const std::int64_t step = a.rows <= kTileRows ? panel.depth : kRecurrentDepth;
  for (std::int64_t k = 0; k < panel.depth; k += step, a.data += step) {
    const std::int64_t depth = std::min(step, panel.depth - k);
    const bool is_last = k + depth == panel.depth;
    const auto add = [&](auto multiply, const auto* weights) {
      const auto* from = weights + k * kPanel;
      AddPartOfProduct(multiply, a, from, depth,
                       is_last ? static_cast<decltype(from)>(next.data) : from + depth * kPanel,
                       tile);
    };
    if (panel.half) {
      add(kernels.row_major_f16, static_cast<const std::uint16_t*>(panel.data));
    } else {
      add(kernels.row_major_f32, static_cast<const float*>(panel.data));
    }
  }
}

inline void AddProduct(const TileKernels&, const RecurrentRows<double>& a,
                       const RecurrentPanel& panel, const RecurrentPanel&, double* tile) {
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
