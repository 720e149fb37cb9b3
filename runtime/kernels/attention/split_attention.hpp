#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "runtime/kernels/attention/attention_operands.hpp"
#include "runtime/kernels/inner_loops.hpp"

namespace poprt::kernels {

/// Rows of float32, `stride` from one to the next.
struct RowsView {
  const float* first;
  std::int64_t stride;
};

/// The products of attention on a matrix unit, for a block of query rows of a head. Keys and values
/// are panels of 16 keys, [depth][16] each, and of 16 channels, [keys][16] each.
class SplitAttention {
 public:
  /// Of tasks with up to `rows_of_task` query rows, at least one, that begin `query_stride` apart.
  /// Null where `loops` have no matrix unit, or it is not faster.
  static std::optional<SplitAttention> Plan(const InnerLoops& loops, const AttentionSizes& sizes,
                                            std::int64_t query_stride, std::int64_t rows_of_task);

  /// Query rows of a block, at most.
  std::int64_t rows() const { return rows_; }
  /// Floats from a row of scores, which become weights where they are, to the next.
  std::int64_t ScoreStride() const;
  /// Scratch memory for a block of so many rows that sees so many keys.
  std::size_t ScratchBytes(std::int64_t rows, std::int64_t keys) const;

  /// scores = Q K^T for the first `keys` keys, and those behind them up to a whole panel.
  void MultiplyKeys(const RowsView& queries, std::int64_t rows, std::int64_t keys,
                    const float* panels, float* scores, std::byte* memory) const;

  /// Takes the sums, [row][16], of `count` rows from `row` on and a panel of channels.
  using Store = std::function<void(std::int64_t row, std::int64_t count, std::int64_t panel,
                                   const float* sums)>;
  /// Weights, where the scores were, times the values of the first `keys` keys.
  void MultiplyValues(const float* weights, std::int64_t rows, std::int64_t keys,
                      const float* panels, const Store& store, std::byte* memory) const;

 private:
  SplitAttention(const InnerLoops& loops, const AttentionSizes& sizes, std::int64_t rows)
      : unit_(loops.matrix_unit), kernels_(&loops.gemm), sizes_(sizes), rows_(rows) {}

  /// Rows times panels that are `panel_rows` rows long, [panel_rows][16] each, of which the first
  /// `depth` count. Panels are cut in twos.
  void Multiply(const RowsView& a, std::int64_t rows, std::int64_t depth, const float* panels,
                std::int64_t panel_count, std::int64_t panel_rows, const Store& store,
                std::byte* memory) const;

  const MatrixUnit* unit_;
  const GemmMicroKernels* kernels_;
  AttentionSizes sizes_;
  std::int64_t rows_;
};

}  // namespace poprt::kernels
