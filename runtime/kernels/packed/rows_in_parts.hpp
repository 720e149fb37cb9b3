#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/panels_at_once.hpp"
#include "runtime/kernels/packed/scaled_panels.hpp"
#include "runtime/kernels/quantized/integer_rows_layout.hpp"

namespace poprt::kernels {

/// Products of up to kMostScaledRows rows with scaled panels as they come from the caches: a row
/// is the sum of two of integers, which are multiplied by the integers of the panels.
class RowsInParts {
  static constexpr std::int64_t kParts = 2;

 public:
  RowsInParts(const IntegerRowKernels& kernels, std::int64_t rows, std::int64_t depth)
      : kernels_(&kernels),
        rows_(rows),
        depth_{.depth = depth, .block = std::min(depth, kScaledBlock), .bits = kWideBits},
        layout_(kParts * rows, depth_) {}

  /// Of 32 bits, that the integers take.
  std::int64_t Elements() const { return layout_.Elements(); }
  /// No less than of so many rows.
  static constexpr std::int64_t MostElements(std::int64_t rows, std::int64_t depth) {
    return kParts * rows * (depth / 2 + 32 + 2 * CeilDiv(depth, kScaledBlock));
  }

  /// Writes the integers of rows from `a` on to memory of Elements(). False where there are none of
  /// some row, which has numbers above 2^100 or that are not finite.
  bool Scale(const float* a, std::int64_t lda, std::byte* memory) const {
    for (std::int64_t r = 0; r < rows_; ++r) {
      const IntegerRows parts = layout_.At(memory, kParts * r);
      if (!kernels_->scale_row_in_parts(a + r * lda, depth_, parts)) return false;
    }
    return true;
  }

  /// Calls each(row, rows, panel, tile) for all products of some rows with one of the panels, which
  /// are rows x 16 without gaps.
  template <typename Each>
  void Multiply(std::byte* memory, const Panels<std::int32_t>& panels, Each each) const {
    const EvenSplit split(rows_, kernels_->rows / kParts);
    const int at_once = rows_ == 1 ? kernels_->panels_of_few_rows : kernels_->panels;
    float tiles[kMostTilePanels * kTile];
    int count = 0;
    for (int panel = 0; panel < panels.count; panel += count) {
      count = PanelsOf(panels.count - panel, at_once);
      for (std::int64_t block = 0; block < split.blocks(); ++block) {
        const std::int64_t row = split.begin(block);
        const std::int64_t rows = split.end(block) - row;
        MultiplyTile(layout_.At(memory, kParts * row), rows,
                     {panels.first + panel * panels.stride, panels.stride, count}, tiles);
        for (int i = 0; i < count; ++i) each(row, rows, panel + i, tiles + i * kTile);
      }
    }
  }

 private:
  static constexpr std::int64_t kTile = kParts * kMostScaledRows * kPanel;

  /// A tile for each of the panels.
  void MultiplyTile(const IntegerRows& parts, std::int64_t rows, const Panels<std::int32_t>& panels,
                    float* tiles) const {
    constexpr std::int64_t kBytes = sizeof(std::int32_t);
    kernels_->multiply(static_cast<int>(kParts * rows), parts,
                       {.first = reinterpret_cast<const std::byte*>(panels.first),
                        .stride = panels.stride * kBytes,
                        .count = panels.count},
                       depth_, {tiles, kTile});
    for (int panel = 0; panel < panels.count; ++panel, tiles += kTile) {
      for (std::int64_t r = 0; r < rows; ++r) {
        const float* const upper = tiles + kParts * r * kPanel;
        std::transform(upper, upper + kPanel, upper + kPanel, tiles + r * kPanel, std::plus<>());
      }
    }
  }

  const IntegerRowKernels* kernels_;
  std::int64_t rows_;
  IntegerDepth depth_;
  IntegerRowsLayout layout_;
};

}  // namespace poprt::kernels
