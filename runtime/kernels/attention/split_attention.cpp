#include "runtime/kernels/attention/split_attention.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/matrix_unit/multiply_split.hpp"

namespace poprt::kernels {
namespace {

// Scores of a block, for which many rows share the work of splitting keys and values, stay in the
// second-level cache.
constexpr std::int64_t kFloatsOfBlock = 1 << 17;

std::int64_t PanelsOf(std::int64_t columns) { return CeilDiv(columns, kSplitGroup); }

/// As equally large as blocks of whole tiles can be.
std::int64_t RowsOfBlock(const AttentionSizes& sizes, std::int64_t rows_of_task) {
  const std::int64_t most =
      std::max(kSplitRows, kFloatsOfBlock / sizes.keys / kSplitRows * kSplitRows);
  const std::int64_t blocks = CeilDiv(rows_of_task, most);
  return CeilDiv(CeilDiv(rows_of_task, blocks), kSplitRows) * kSplitRows;
}

SplitBlocking BlockingOf(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  return {rows, PanelsOf(columns), depth, PanelNumbers::kFloat};
}

bool Pays(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  return SplitBlocking::Pays(rows, PanelsOf(columns), depth, PanelNumbers::kFloat);
}

}  // namespace

std::optional<SplitAttention> SplitAttention::Plan(const InnerLoops& loops,
                                                   const AttentionSizes& sizes,
                                                   std::int64_t query_stride,
                                                   std::int64_t rows_of_task) {
  // A sum of one step of the depth takes longer to store than to compute.
  if (loops.matrix_unit == nullptr || sizes.depth <= kSplitStep ||
      std::max({query_stride, sizes.depth, sizes.keys}) > kMostSplitStride) {
    return std::nullopt;
  }
  const SplitAttention attention(loops, sizes, RowsOfBlock(sizes, rows_of_task));
  const std::int64_t rows = std::min(rows_of_task, attention.rows());
  if (!Pays(rows, sizes.keys, sizes.depth) || !Pays(rows, sizes.value_depth, sizes.keys)) {
    return std::nullopt;
  }
  return attention;
}

/// An odd number of lines of the cache, so that rows do not have the same places there.
std::int64_t SplitAttention::ScoreStride() const {
  return (PanelsOf(sizes_.keys) | 1) * kSplitGroup;
}

std::size_t SplitAttention::ScratchBytes(std::int64_t rows, std::int64_t keys) const {
  return std::max(BlockingOf(rows, keys, sizes_.depth).ScratchBytes(),
                  BlockingOf(rows, sizes_.value_depth, keys).ScratchBytes());
}

void SplitAttention::MultiplyKeys(const RowsView& queries, std::int64_t rows, std::int64_t keys,
                                  const float* panels, float* scores, std::byte* memory) const {
  const auto store = [&](std::int64_t row, std::int64_t count, std::int64_t panel,
                         const float* sums) {
    float* to = scores + row * ScoreStride() + panel * kSplitGroup;
    for (; count > 0; --count, sums += kSplitGroup, to += ScoreStride()) {
      std::memcpy(to, sums, kSplitGroup * sizeof(float));
    }
  };
  Multiply(queries, rows, sizes_.depth, panels, PanelsOf(keys), sizes_.depth, store, memory);
}

void SplitAttention::MultiplyValues(const float* weights, std::int64_t rows, std::int64_t keys,
                                    const float* panels, const Store& store,
                                    std::byte* memory) const {
  Multiply({weights, ScoreStride()}, rows, keys, panels, PanelsOf(sizes_.value_depth), sizes_.keys,
           store, memory);
}

void SplitAttention::Multiply(const RowsView& a, std::int64_t rows, std::int64_t depth,
                              const float* panels, std::int64_t panel_count,
                              std::int64_t panel_rows, const Store& store,
                              std::byte* memory) const {
  const SplitBlocking blocking(rows, panel_count, depth, PanelNumbers::kFloat);
  const RowMajorRows found(a.stride);
  const auto rows_at = [&](std::int64_t row, std::int64_t k, SplitRows& found_rows) {
    found.Find(a.first + row * a.stride + k, depth - k, found_rows);
  };
  const auto panel_at = [&](std::int64_t panel, std::int64_t k, std::int64_t) -> const void* {
    return panels + (panel * panel_rows + k) * kSplitGroup;
  };
  const auto finish = [&](const SplitTask& task, const float* sums) {
    for (std::int64_t panel = task.first_panel; panel < task.last_panel; ++panel) {
      store(task.first_row, task.rows, panel, sums);
      sums += kSplitPairSums;
    }
  };
  const auto compute = [&](std::int64_t row, std::int64_t panel) {
    float sums[kSplitGroup];
    kernels_->row_major_f32(
        1, a.first + row * a.stride, depth,
        {.first = panels + panel * panel_rows * kSplitGroup, .stride = 0, .count = 1}, depth, {},
        {sums, kSplitGroup}, false);
    store(row, 1, panel, sums);
  };
  const SplitTasks tasks = blocking.TasksOf(rows, panel_count);
  for (std::int64_t i = 0; i < tasks.count(); ++i) {
    MultiplySplit(*unit_, blocking, tasks.At(i), rows_at, panel_at, StartFromZero, finish, compute,
                  memory);
  }
}

}  // namespace poprt::kernels
