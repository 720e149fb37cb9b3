#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/packed/fetch_ahead.hpp"
#include "runtime/kernels/packed/panels_at_once.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/packed/rows_in_parts.hpp"
#include "runtime/tensor/element_type.hpp"

namespace poprt::kernels {

/// Rows of a matrix: element (r, k) is data[r * stride + k].
template <typename C>
struct RecurrentRows {
  const C* data;
  std::int64_t stride;
  std::int64_t rows;
  /// One row of float as integers, for scaled panels, where it has these.
  const RowsInParts* in_parts = nullptr;
  std::byte* parts = nullptr;
};

/// Panels of PackRecurrentWeights by which the same rows are multiplied: depth x 16 of C each or,
/// for float, of float16 bits or, scaled (int32) and for one row, of words.
struct RecurrentPanels {
  const void* data;
  std::int64_t depth;
  ElementType stored;
  std::int64_t stride;  ///< elements from one panel to the next
  int count;
};

/// A tile of rows x 16 without gaps for each panel.
template <typename C>
struct RecurrentTiles {
  C* first;
  std::int64_t stride;  ///< numbers from one tile to the next
};

/// Panels of this depth, two at most, stay in the first-level cache or close to it while many rows
/// are multiplied by them.
inline constexpr std::int64_t kRecurrentDepth = 384;

/// AddProduct for part of the depth, panel rows from `panels` on, of as many panels as the kernel
/// takes. `next` is what is multiplied by after this, with the same stride, and is fetched.
template <typename W, typename Multiply>
void AddPartOfProduct(const GemmMicroKernels& kernels, Multiply multiply,
                      const RecurrentRows<float>& a, const Panels<W>& panels, std::int64_t depth,
                      const W* next, const RecurrentTiles<float>& tiles) {
  const RegisterTiles rows(a.rows, kernels.rows);
  const FetchAhead fetch(rows.count(), depth, sizeof(W));
  for (std::int64_t t = 0; t < rows.count(); ++t) {
    const std::int64_t row = rows.begin(t);
    multiply(rows.size(t), a.data + row * a.stride, a.stride, panels, depth,
             fetch.Of(t, panels.first, next), {tiles.first + row * kPanel, tiles.stride}, true);
  }
}

/// As AddProduct, for elements of type W: as many panels in a call as the rows allow.
template <typename W, typename Multiply>
void AddProductOf(const GemmMicroKernels& kernels, Multiply multiply, const RecurrentRows<float>& a,
                  const RecurrentPanels& panels, const void* next,
                  const RecurrentTiles<float>& tiles) {
  const std::int64_t step = a.rows <= kTileRows ? panels.depth : kRecurrentDepth;
  int count = 0;
  for (int p = 0; p < panels.count; p += count) {
    count = PanelsAtOnce(kernels, a.rows, panels.count - p);
    const W* const from = static_cast<const W*>(panels.data) + p * panels.stride;
    const bool are_last = p + count == panels.count;
    const W* const behind = are_last ? static_cast<const W*>(next) : from + count * panels.stride;
    for (std::int64_t k = 0; k < panels.depth; k += step) {
      const std::int64_t depth = std::min(step, panels.depth - k);
      const W* const part = from + k * kPanel;
      AddPartOfProduct<W>(kernels, multiply, {a.data + k, a.stride, a.rows},
                          {part, panels.stride, count}, depth,
                          k + depth == panels.depth ? behind : part + depth * kPanel,
                          {tiles.first + p * tiles.stride, tiles.stride});
    }
  }
}

/// As AddProduct, for one row and scaled panels.
inline void AddScaledProduct(const InnerLoops& loops, const RecurrentRows<float>& a,
                             const RecurrentPanels& panels, const RecurrentTiles<float>& tiles) {
  const auto* const lines = static_cast<const std::int32_t*>(panels.data);
  const auto add = [&](std::int64_t, std::int64_t, int panel, const float* tile) {
    float* const to = tiles.first + panel * tiles.stride;
    std::transform(to, to + kPanel, tile, to, std::plus<>());
  };
  if (a.parts != nullptr) {
    return a.in_parts->Multiply(a.parts, {lines, panels.stride, panels.count}, add);
  }
  constexpr std::int64_t kDepth = 8 * kScaledBlock;
  for (std::int64_t k = 0; k < panels.depth; k += kDepth) {
    const std::int64_t depth = std::min(kDepth, panels.depth - k);
    const std::int32_t* const from = lines + ScaledLines(k) * kPanel;
    const RowsInParts row(*loops.wide_rows, 1, depth);
    alignas(64) std::byte parts[4 * RowsInParts::MostElements(1, kDepth)];
    if (row.Scale(a.data + k, a.stride, parts)) {
      row.Multiply(parts, {from, panels.stride, panels.count}, add);
      continue;
    }
    for (int panel = 0; panel < panels.count; ++panel) {
      float widened[kDepth * kPanel];
      loops.gemm.widen_scaled(from + panel * panels.stride, depth, widened);
      loops.gemm.row_major_f32(1, a.data + k, a.stride, {widened, 0, 1}, depth,
                               FetchAhead(1, depth, sizeof(float)).Of<float>(0, widened, nullptr),
                               {tiles.first + panel * tiles.stride, 0}, true);
    }
  }
}

/// tiles[p][r][0..16) += A[r] * panels[p]. `next` is what this thread multiplies by afterwards.
inline void AddProduct(const InnerLoops& loops, const RecurrentRows<float>& a,
                       const RecurrentPanels& panels, const void* next,
                       const RecurrentTiles<float>& tiles) {
  if (panels.stored == ElementType::kInt32) {
    AddScaledProduct(loops, a, panels, tiles);
  } else if (panels.stored == ElementType::kFloat16) {
    AddProductOf<std::uint16_t>(loops.gemm, loops.gemm.row_major_f16, a, panels, next, tiles);
  } else {
    AddProductOf<float>(loops.gemm, loops.gemm.row_major_f32, a, panels, next, tiles);
  }
}

inline void AddProduct(const InnerLoops&, const RecurrentRows<double>& a,
                       const RecurrentPanels& panels, const void*,
                       const RecurrentTiles<double>& tiles) {
  for (int p = 0; p < panels.count; ++p) {
    for (std::int64_t row = 0; row < a.rows; ++row) {
      const double* from = a.data + row * a.stride;
      const double* weights = static_cast<const double*>(panels.data) + p * panels.stride;
      double* const tile = tiles.first + p * tiles.stride + row * kPanel;
      double sums[kPanel];
      std::copy_n(tile, kPanel, sums);
      for (std::int64_t k = 0; k < panels.depth; ++k, weights += kPanel) {
        for (std::int64_t c = 0; c < kPanel; ++c) sums[c] += from[k] * weights[c];
      }
      std::copy_n(sums, kPanel, tile);
    }
  }
}

}  // namespace poprt::kernels
