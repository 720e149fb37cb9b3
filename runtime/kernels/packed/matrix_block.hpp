#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/packed/fetch_ahead.hpp"
#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/panels_at_once.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/tensor/element_type.hpp"

namespace poprt::kernels {

/// One block of the rows of a matrix times some panels of 16 columns of another: the work of one
/// task of "gemm" and "batch_matmul".
struct MatrixBlock {
  const void* a = nullptr;  ///< first row of the block
  bool a_half = false;
  std::int64_t lda = 0;
  std::int64_t rows = 0;
  std::int64_t depth = 0;
  std::int64_t first_row = 0;  ///< of `a` within the result
  std::int64_t columns = 0;    ///< of the result
  std::int64_t first_panel = 0;
  std::int64_t last_panel = 0;  ///< one past
};

/// How rows, panels and depth are cut for a product of a given size.
struct MatrixBlocking {
  /// An estimate for `products` matrices of rows x depth times depth x panels * 16.
  MatrixBlocking(std::int64_t products, std::int64_t row_count, std::int64_t panel_count,
                 std::int64_t depth, bool a_half);

  /// Block sizes: rows, panels, depth.
  Ints Cut(const Attributes& attributes) {
    return CutIntoBlocks(attributes, {&rows, &panels, &depth});
  }

  /// Floats that MultiplyBlock needs.
  std::int64_t ScratchFloats() const;

  /// Those of them, at their start, for results: of all tiles where sums are continued, else of
  /// one.
  std::int64_t ResultFloats() const;
  /// Where a tile of rows from `row` on is and those of further panels are, both counted from the
  /// block's first.
  Tiles TilesAt(float* results, std::int64_t panel, std::int64_t row) const;

  EvenSplit rows;
  EvenSplit panels;
  EvenSplit depth;
  bool widens_rows;  ///< of float16
};

/// Panels: float32 or float16 bits.
struct PanelsView {
  const void* data;
  std::int64_t stride;  ///< elements from one panel to the next
  ElementType element = ElementType::kFloat32;
  const void* next = nullptr;  ///< what is read for the panels behind these, if it is in memory
};

/// Whether an epilogue is no more than a bias of columns and a residual, which products add
/// themselves, before they store floats where they belong.
inline bool AddsOnly(const Epilogue& epilogue) {
  return epilogue.activation == Activation::kNone && epilogue.scale == 1 &&
         epilogue.row_bias == nullptr && !epilogue.half;
}

/// Where such results belong, panels as tiles of it.
inline Tiles ResultsAt(const Epilogue& epilogue, std::int64_t row, std::int64_t column) {
  const std::int64_t at = row * epilogue.row_stride + column;
  return {.first = static_cast<float*>(epilogue.out) + at,
          .stride = kPanel,
          .row_stride = epilogue.row_stride,
          .bias = epilogue.column_bias == nullptr ? nullptr : epilogue.column_bias + column,
          .residual = epilogue.residual == nullptr
                          ? nullptr
                          : static_cast<const float*>(epilogue.residual) + at};
}

/// Computes `block`. panels_at(p, count, k, n) gives rows [k, k + n) of `count` panels from p on;
/// the view is used until the next call. `scratch` has room for blocking.ScratchFloats().
template <typename PanelsAt>
void MultiplyBlock(const GemmMicroKernels& kernels, const MatrixBlocking& blocking,
                   const MatrixBlock& block, PanelsAt panels_at, const Epilogue& epilogue,
                   float* scratch) {
  const RegisterTiles tiles(block.rows, kernels.rows);
  const std::int64_t parts = blocking.depth.blocks();
  const bool adds_only = parts == 1 && AddsOnly(epilogue);
  float* const results = scratch;
  float* const widened = scratch + blocking.ResultFloats();
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t k = blocking.depth.begin(part);
    const std::int64_t depth = blocking.depth.end(part) - k;
    const float* a = static_cast<const float*>(block.a) + k;
    std::int64_t lda = block.lda;
    if (block.a_half) {
      const auto* source = static_cast<const std::uint16_t*>(block.a) + k;
      for (std::int64_t r = 0; r < block.rows; ++r) {
        kernels.widen(source + r * lda, depth, widened + r * depth);
      }
      a = widened;
      lda = depth;
    }
    int count = 0;
    for (std::int64_t p = block.first_panel; p < block.last_panel; p += count) {
      count = PanelsAtOnce(kernels, block.rows, block.last_panel - p);
      const PanelsView b = panels_at(p, count, k, depth);
      const std::int64_t column = p * kPanel;
      const bool is_stored = adds_only && column + count * kPanel <= block.columns;
      const auto multiply = [&](auto product, const auto* data) {
        const FetchAhead fetch(tiles.count(), depth, sizeof(*data));
        const auto* next = static_cast<decltype(data)>(b.next);
        for (std::int64_t t = 0; t < tiles.count(); ++t) {
          const std::int64_t row = tiles.begin(t);
          const int rows = tiles.size(t);
          const Tiles to = is_stored ? ResultsAt(epilogue, block.first_row + row, column)
                                     : blocking.TilesAt(results, p - block.first_panel, row);
          product(rows, a + row * lda, lda, {data, b.stride, count}, depth, fetch.Of(t, data, next),
                  to, part > 0);
          if (is_stored || part + 1 < parts) continue;
          for (int i = 0; i < count; ++i) {
            const std::int64_t first = column + i * kPanel;
            kernels.finish(epilogue, to.first + i * to.stride, kPanel, rows,
                           std::min(kPanel, block.columns - first), block.first_row + row, first);
          }
        }
      };
      if (b.element == ElementType::kFloat16) {
        multiply(kernels.row_major_f16, static_cast<const std::uint16_t*>(b.data));
      } else {
        multiply(kernels.row_major_f32, static_cast<const float*>(b.data));
      }
    }
  }
}

/// Estimates the columns of a task of GemvKernels, of `columns` with `depth` >= 1 numbers each,
/// which lie in rows or one column after the other.
enum class ThinOrder : std::uint8_t { kByRows, kByColumns };
std::int64_t ThinColumns(ThinOrder order, std::int64_t depth, std::int64_t columns);

}  // namespace poprt::kernels
