#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/packed/tile_kernels.hpp"

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
  /// An estimate for `products` matrices of rows x depth times depth x panels * 16, none of them 0.
  MatrixBlocking(std::int64_t products, std::int64_t row_count, std::int64_t panel_count,
                 std::int64_t depth, bool a_half);

  /// Block sizes: rows, panels, depth.
  Ints Cut(const Attributes& attributes) {
    return CutIntoBlocks(attributes, {&rows, &panels, &depth});
  }

  /// Floats that MultiplyBlock needs.
  std::int64_t ScratchFloats() const;

  EvenSplit rows;
  EvenSplit panels;
  EvenSplit depth;
  bool widens_rows;  ///< of float16
};

/// A panel: float32, or float16 bits.
struct PanelView {
  const void* data;
  bool half;
};

/// Computes `block`. panel(p, k, n) gives rows [k, k + n) of panel p; the view is used until the
/// next call. `scratch` has room for blocking.ScratchFloats().
template <typename PanelAt>
void MultiplyBlock(const TileKernels& kernels, const MatrixBlocking& blocking,
                   const MatrixBlock& block, PanelAt panel, const Epilogue& epilogue,
                   float* scratch) {
  const RowTiles tiles(block.rows);
  const std::int64_t parts = blocking.depth.blocks();
  float* const results = scratch;
  float* const widened =
      scratch + (parts > 1 ? blocking.panels.largest() : 1) * blocking.rows.largest() * kPanel;
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
    for (std::int64_t p = block.first_panel; p < block.last_panel; ++p) {
      const PanelView b = panel(p, k, depth);
      const std::int64_t columns = std::min(kPanel, block.columns - p * kPanel);
      float* const first_tile =
          parts > 1 ? results + (p - block.first_panel) * block.rows * kPanel : results;
      // Packed panels follow each other. The last tiles of this one fetch the next, a quarter each
      // (half of a float16 panel); earlier it would push this one out of the first-level cache. The
      // only tile of a few rows fetches what itself needs next.
      const auto* data = static_cast<const std::byte*>(b.data);
      const std::int64_t fetching = std::min<std::int64_t>(tiles.count(), b.half ? 2 : 4);
      const std::int64_t fetched = depth * kPanel;  // bytes, by one tile
      const std::byte* next =
          data + (tiles.count() == 1 ? 1024 : block.depth * kPanel * (b.half ? 2 : 4));
      for (std::int64_t t = 0; t < tiles.count(); ++t) {
        const std::int64_t row = tiles.begin(t);
        const int rows = static_cast<int>(tiles.size(t));
        float* const tile = first_tile + row * kPanel;
        const std::int64_t step = t + fetching - tiles.count();
        const std::byte* ahead = step < 0 ? data : next + step * fetched;
        if (b.half) {
          kernels.row_major_f16(rows, a + row * lda, lda, static_cast<const std::uint16_t*>(b.data),
                                depth, ahead, tile, part > 0);
        } else {
          kernels.row_major_f32(rows, a + row * lda, lda, static_cast<const float*>(b.data), depth,
                                ahead, tile, part > 0);
        }
        if (part + 1 == parts) {
          kernels.finish(epilogue, tile, kPanel, rows, columns, block.first_row + row, p * kPanel);
        }
      }
    }
  }
}

}  // namespace poprt::kernels
