#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/kernels/matrix_unit/multiply_split.hpp"
#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/matrix_block.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"

namespace poprt::kernels {

/// How MultiplySplitBlock computes what is not finite: one row of a panel without the matrix unit.
inline MatrixBlocking BlockingOfRest(std::int64_t depth, bool a_half) {
  return {1, 1, 1, depth, a_half};
}

/// Scratch memory of MultiplySplitBlock.
inline std::size_t SplitBlockScratch(const SplitBlocking& blocking, std::int64_t depth,
                                     bool a_half) {
  return blocking.ScratchBytes() + FloatScratchBytes(BlockingOfRest(depth, a_half).ScratchFloats());
}

/// MultiplyBlock on a matrix unit, block.lda being at most kMostSplitStride. panel_at(p, k) is
/// where row k of a panel begins, which the unit reads. What is not finite is computed from
/// panels_at meanwhile.
template <typename PanelAt, typename PanelsAt>
void MultiplySplitBlock(const MatrixUnit& unit, const GemmMicroKernels& kernels,
                        const SplitBlocking& blocking, const MatrixBlock& block, PanelAt panel_at,
                        PanelsAt panels_at, const Epilogue& epilogue, std::byte* scratch) {
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
  const auto start_at = [](std::int64_t) {
    alignas(64) static constexpr float kNone[kPanel] = {};
    return kNone;
  };
  // All of the depth at once.
  const auto compute = [&](std::int64_t row, std::int64_t panel) {
    MatrixBlock one = block;
    one.a = row_at(row);
    one.rows = 1;
    one.first_row = block.first_row + row;
    one.first_panel = panel;
    one.last_panel = panel + 1;
    MultiplyBlock(kernels, BlockingOfRest(block.depth, block.a_half), one, panels_at, epilogue,
                  reinterpret_cast<float*>(scratch + blocking.ScratchBytes()));
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
                panel_at, start_at, finish, compute, scratch);
}

}  // namespace poprt::kernels
