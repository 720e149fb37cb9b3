#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/kernels/matrix_unit/multiply_split.hpp"
#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/matrix_block.hpp"

namespace poprt::kernels {

/// How a product of rows that lie side by side is cut for the matrix unit, where there is one and
/// it is faster.
inline std::optional<SplitBlocking> PlanSplitBlock(const MatrixUnit* unit, std::int64_t rows,
                                                   std::int64_t panels, std::int64_t depth,
                                                   PanelNumbers numbers) {
  if (unit == nullptr || depth > kMostSplitStride ||
      !SplitBlocking::Pays(rows, panels, depth, numbers)) {
    return std::nullopt;
  }
  return SplitBlocking(rows, panels, depth, numbers);
}

/// How what is not finite is computed without the unit: one row of a panel, by the same parts of
/// the depth.
inline MatrixBlocking BlockingOfRest(const SplitBlocking& split, bool a_half) {
  MatrixBlocking rest(1, 1, 1, split.depth().count(), a_half);
  rest.depth = split.depth();
  return rest;
}

/// MultiplyBlock on a matrix unit, block.lda being at most kMostSplitStride. panel_at(p, k,
/// n) is where rows [k, k + n) of a panel are, as in MultiplySplit. compute(row, panel) has to
/// compute what is not finite, a row of the block, meanwhile. `scratch` has
/// blocking.ScratchBytes().
template <typename PanelAt, typename Compute>
void MultiplySplitBlock(const MatrixUnit& unit, const GemmMicroKernels& kernels,
                        const SplitBlocking& blocking, const MatrixBlock& block, PanelAt panel_at,
                        Compute compute, const Epilogue& epilogue, std::byte* scratch) {
  const std::int64_t size = block.a_half ? 2 : 4;
  const auto row_at = [&](std::int64_t row) {
    return static_cast<const std::byte*>(block.a) + row * block.lda * size;
  };
  const RowMajorRows found(block.a_half ? kSplitStep : block.lda);
  float widened[kSplitAtOnce * kSplitStep];
  const auto rows_at = [&](std::int64_t first, std::int64_t k, SplitRows& rows) {
    const std::int64_t left = block.depth - k;
    if (!block.a_half) {
      return found.Find(reinterpret_cast<const float*>(row_at(first)) + k, left, rows);
    }
    for (std::int64_t r = 0; r < rows.rows; ++r) {
      kernels.widen(reinterpret_cast<const std::uint16_t*>(row_at(first + r)) + k,
                    std::min(kSplitStep, left), widened + r * kSplitStep);
    }
    found.Find(widened, left, rows);
  };
  const auto finish = [&](const SplitTask& task, const float* sums) {
    for (std::int64_t panel = task.first_panel; panel < task.last_panel; ++panel) {
      const std::int64_t column = panel * kPanel;
      kernels.finish(epilogue, sums + (panel - task.first_panel) * kSplitPairSums, kPanel,
                     task.rows, std::min(kPanel, block.columns - column),
                     block.first_row + task.first_row, column);
    }
  };
  MultiplySplit(unit, blocking, {0, block.rows, block.first_panel, block.last_panel}, rows_at,
                panel_at, StartFromZero, finish, compute, scratch);
}

}  // namespace poprt::kernels
