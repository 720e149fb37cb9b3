#include "runtime/kernels/packed/matrix_block.hpp"

namespace poprt::kernels {
namespace {

// A block of A of this many rows and this depth stays in the second-level cache, a panel of this
// depth in the first-level cache.
constexpr std::int64_t kRows = 192;
constexpr std::int64_t kDepth = 384;
constexpr std::int64_t kPanels = 8;

// Smaller tasks cost more to hand out than to run; fewer tasks leave threads idle.
constexpr std::int64_t kWorkOfTask = 1 << 16;
constexpr std::int64_t kTasks = 8;

/// With up to six rows nothing is read twice, so that there is nothing to keep in a cache.
std::int64_t LargestDepth(std::int64_t rows, std::int64_t depth) {
  return rows <= kTileRows ? depth : kDepth;
}

std::int64_t LargestPanels(std::int64_t products, std::int64_t row_blocks, std::int64_t rows,
                           std::int64_t panels, std::int64_t depth) {
  std::int64_t largest = kPanels;
  const auto enough_tasks = [&] {
    return products >= kTasks || row_blocks >= kTasks ||
           products * row_blocks * EvenSplit(panels, largest).blocks() >= kTasks;
  };
  while (largest > 1 && !enough_tasks()) largest /= 2;
  const std::int64_t work_of_panel = std::min(rows, kRows) * depth * kPanel;
  while (largest < panels && work_of_panel < kWorkOfTask / largest) largest *= 2;
  return largest;
}

}  // namespace

MatrixBlocking::MatrixBlocking(std::int64_t products, std::int64_t row_count,
                               std::int64_t panel_count, std::int64_t whole_depth, bool a_half)
    : rows(row_count, kRows),
      panels(panel_count,
             LargestPanels(products, rows.blocks(), row_count, panel_count, whole_depth)),
      depth(whole_depth, LargestDepth(row_count, whole_depth)) {
  scratch_floats = (depth.blocks() > 1 ? panels.largest() : 1) * rows.largest() * kPanel;
  if (a_half) scratch_floats += rows.largest() * depth.largest();
}

}  // namespace poprt::kernels
