#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/quantized/best_byte_micro_kernels.hpp"
#include "runtime/kernels/quantized/byte_quads.hpp"
#include "runtime/kernels/quantized/product_shape.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {

/// Products of matrices of 8-bit integers minus their zero points, modulo 2^32. Columns of the
/// right operand are values in panels, rows of the left one factors.
class IntegerProduct {
 public:
  /// What the right operand is: a row-major matrix, or what PackQuads makes of it.
  enum class Right : std::uint8_t { kPlain, kPacked };

  IntegerProduct(const ProductShape& shape, ElementType a, ElementType b,
                 Right right = Right::kPlain)
      : shape_(shape),
        right_(right),
        quads_((shape.depth + 3) / 4),
        block_rows_(std::min(shape.rows, LargestRows(right))),
        block_columns_(right == Right::kPacked && shape.rows >= kFewRows ? shape.columns
                                                                         : kFewColumns),
        a_move_(FactorMove(a)),
        b_move_(ValueMove(b)) {
    for (std::int64_t t = 0; t < quads_; ++t) offsets_.push_back(t * kQuadLanes);
  }

  /// Scratch of a worker.
  std::size_t ScratchBytes() const {
    const std::int64_t quads = (block_rows_ + kQuadLanes) * quads_;
    return kernels::ScratchBytes(static_cast<std::size_t>(quads) * sizeof(Quad));
  }

  /// Computes all products, in blocks on the pool. Operands has
  /// * A(product), B(product): matrices of bytes, A row-major;
  /// * a_points, b_points: zero points, null for zeros, and APoint(product, row),
  ///   BPoint(product, column): their indices.
  /// store(product, row, column, count, const std::int32_t* sums) gets parts of rows of the result,
  /// of at most kQuadLanes columns; up to the next multiple of kQuadVector can be read.
  template <typename Operands, typename Store>
  void Run(const KernelArguments& args, const Operands& operands, const Store& store) const {
    const std::int64_t row_blocks = (shape_.rows - 1) / block_rows_ + 1;
    const std::int64_t columns = ColumnsOfTask(shape_.products * row_blocks, args.pool->size());
    const std::int64_t column_blocks = (shape_.columns - 1) / columns + 1;
    const std::int64_t per_product = row_blocks * column_blocks;
    ForWideRanges(args.pool, shape_.products * per_product, GrainFor(BlockCost(columns)),
                  [&](std::int64_t begin, std::int64_t end, int worker) {
                    auto* scratch = reinterpret_cast<Quad*>(
                        args.scratch + static_cast<std::size_t>(worker) * ScratchBytes());
                    for (std::int64_t i = begin; i < end; ++i) {
                      RunBlock(i / per_product, i % per_product / column_blocks * block_rows_,
                               {i % column_blocks * columns, columns}, scratch, operands, store);
                    }
                  });
  }

 private:
  /// Of a block. A row is read as factors once for all columns, a panel that is not packed once for
  /// all rows.
  static constexpr std::int64_t kFewRows = 36;
  static constexpr std::int64_t kManyRows = 132;
  static constexpr std::int64_t kFewColumns = 4 * kQuadLanes;

  /// Tiles of many rows are faster than weights come.
  static std::int64_t LargestRows(Right right) {
    if (BestByteMicroKernels().rows > kQuadRows) return kManyRows / kMostQuadRows * kMostQuadRows;
    return right == Right::kPacked ? kFewRows : kManyRows;
  }

  /// So that `workers` have equally many tasks, or many: no sum depends on it.
  std::int64_t ColumnsOfTask(std::int64_t row_blocks, std::int64_t workers) const {
    const std::int64_t panels = (shape_.columns - 1) / kQuadLanes + 1;
    constexpr std::int64_t kManyTasks = 4;  // of a worker
    const std::int64_t cuts =
        row_blocks >= kManyTasks * workers
            ? 1
            : std::max<std::int64_t>(1, workers / std::gcd(row_blocks, workers));
    return std::min(block_columns_, ((panels - 1) / cuts + 1) * kQuadLanes);
  }

  std::int64_t BlockCost(std::int64_t columns) const {
    return block_rows_ * std::min(shape_.columns, columns) * std::max<std::int64_t>(1, quads_ / 8);
  }

  /// Rows of the left operand as factors, and what their zero points take.
  struct Rows {
    const Quad* factors;
    std::int64_t count;
    bool has_points = false;
    std::int32_t points[kManyRows] = {};
    std::int32_t bases[kManyRows] = {};  // n q - sum f
  };
  /// Up to kQuadLanes columns of the right one.
  struct Panel {
    const Quad* values;
    std::int64_t lanes;
    std::int32_t points[kQuadLanes] = {};
    std::int32_t sums[kQuadLanes] = {};  // where rows have points
  };

  /// What zero points take from the sums of rows in a panel: products of differences come from
  /// products. Columns of one point share what rows of one point take from them.
  class PanelPoints {
   public:
    explicit PanelPoints(const Panel& panel)
        : panel_(panel),
          is_one_(std::all_of(panel.points, panel.points + kQuadLanes,
                              [&](std::int32_t point) { return point == panel.points[0]; })) {}

    /// `point` and `base` are a row's.
    POPRT_INLINE void Subtract(std::int32_t point, std::int32_t base, std::int32_t* line) {
      if (point != point_) {
        point_ = point;
        for (std::int64_t c = 0; c < kQuadLanes; ++c) {
          taken_[c] = MultiplySums(-point, panel_.sums[c]);
        }
      }
      const std::int32_t of_all = MultiplySums(panel_.points[0], base);
      for (std::int64_t c = 0; c < kQuadLanes; ++c) {
        const std::int32_t of_column = is_one_ ? of_all : MultiplySums(panel_.points[c], base);
        line[c] = AddSums(line[c], AddSums(of_column, taken_[c]));
      }
    }

   private:
    const Panel& panel_;
    bool is_one_;
    std::int32_t point_ = 0;
    std::int32_t taken_[kQuadLanes] = {};
  };

  struct ColumnRange {
    std::int64_t first;
    std::int64_t count;
  };

  template <typename Operands, typename Store>
  void RunBlock(std::int64_t product, std::int64_t row, const ColumnRange& columns, Quad* scratch,
                const Operands& operands, const Store& store) const {
    Rows rows{.factors = scratch, .count = std::min(block_rows_, shape_.rows - row)};
    LoadRows(product, row, operands, scratch, rows);
    Quad* const unpacked = scratch + block_rows_ * quads_;
    const std::int64_t end = std::min(shape_.columns, columns.first + columns.count);
    const ByteMicroKernels& tiles = BestByteMicroKernels();
    // Lanes behind the last column are added to, too.
    std::int32_t sums[kMostQuadRows * kQuadLanes];
    std::fill_n(sums, tiles.rows * kQuadLanes, 0);
    for (std::int64_t column = columns.first; column < end; column += kQuadLanes) {
      const std::int64_t count = std::min(kQuadLanes, end - column);
      const Panel panel = PanelOf(product, column, count, rows.has_points, operands, unpacked);
      PanelPoints points(panel);
      for (std::int64_t tile = 0; tile < rows.count; tile += tiles.rows) {
        const std::int64_t n = std::min(tiles.rows, rows.count - tile);
        tiles.multiply(n, panel.lanes, panel.values, offsets_.data(), rows.factors + tile * quads_,
                       quads_, sums, kQuadLanes);
        for (std::int64_t r = 0; r < n; ++r) {
          std::int32_t* line = sums + r * kQuadLanes;
          points.Subtract(rows.points[tile + r], rows.bases[tile + r], line);
          store(product, row + tile + r, column, count, static_cast<const std::int32_t*>(line));
        }
      }
    }
  }

  template <typename Operands>
  void LoadRows(std::int64_t product, std::int64_t row, const Operands& operands, Quad* factors,
                Rows& rows) const {
    for (std::int64_t r = 0; r < rows.count; ++r) {
      const std::byte* from = operands.A(product) + (row + r) * shape_.depth;
      LoadFactors(from, shape_.depth, a_move_, factors + r * quads_);
      const std::int32_t point =
          FactorPoint(operands.a_points, operands.APoint(product, row + r), a_move_);
      const std::int32_t sum = SumFactors(from, shape_.depth, a_move_);
      rows.points[r] = point;
      rows.bases[r] = AddSums(MultiplySums(static_cast<std::int32_t>(shape_.depth), point),
                              MultiplySums(-1, sum));
      rows.has_points = rows.has_points || point != 0;
    }
  }

  template <typename Operands>
  Panel PanelOf(std::int64_t product, std::int64_t column, std::int64_t count, bool needs_sums,
                const Operands& operands, Quad* unpacked) const {
    Panel panel{.values = unpacked, .lanes = (count + kQuadVector - 1) / kQuadVector * kQuadVector};
    for (std::int64_t c = 0; c < count; ++c) {
      panel.points[c] =
          ValuePoint(operands.b_points, operands.BPoint(product, column + c), b_move_);
    }
    if (right_ == Right::kPacked) {
      panel.values = reinterpret_cast<const Quad*>(operands.B(product)) + column * (quads_ + 1);
      if (needs_sums)
        std::memcpy(panel.sums, panel.values + quads_ * kQuadLanes, sizeof(panel.sums));
    } else {
      LoadPanel(operands.B(product) + column, count, panel.lanes, unpacked);
      if (needs_sums) SumValues(unpacked, panel.lanes, panel.sums);
    }
    return panel;
  }

  /// `count` columns, and any values up to `lanes`. What is behind the last row meets factors of
  /// zero.
  void LoadPanel(const std::byte* from, std::int64_t count, std::int64_t lanes, Quad* to) const {
    const Quad move = b_move_ * kEveryByte;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(from);
    for (std::int64_t t = 0; t < quads_; ++t, to += kQuadLanes) {
      const std::uint8_t* rows[4];
      for (std::int64_t i = 0; i < 4; ++i) {
        rows[i] = bytes + std::min(4 * t + i, shape_.depth - 1) * shape_.columns;
      }
      BestByteMicroKernels().interleave(rows, count, move, to);
      std::fill(to + count, to + lanes, Quad{0});
    }
  }

  /// The sum of every column of a panel.
  void SumValues(const Quad* panel, std::int64_t lanes, std::int32_t* sums) const {
    const std::int64_t whole = shape_.depth / 4;
    for (std::int64_t t = 0; t < quads_; ++t) {
      const Quad used = t < whole ? ~Quad{0} : (Quad{1} << (8 * (shape_.depth % 4))) - 1;
      for (std::int64_t c = 0; c < lanes; ++c) {
        const Quad quad = panel[t * kQuadLanes + c] & used;
        const Quad sum = (quad & 0xFFU) + (quad >> 8 & 0xFFU) + (quad >> 16 & 0xFFU) + (quad >> 24);
        sums[c] = AddSums(sums[c], static_cast<std::int32_t>(sum));
      }
    }
  }

  ProductShape shape_;
  Right right_;
  std::int64_t quads_;  // of a row or column
  std::int64_t block_rows_;
  std::int64_t block_columns_;
  std::uint8_t a_move_;
  std::uint8_t b_move_;
  std::vector<std::int64_t> offsets_;  // of the quads of a panel
};

}  // namespace poprt::kernels
