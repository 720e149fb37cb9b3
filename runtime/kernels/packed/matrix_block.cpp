#include "runtime/kernels/packed/matrix_block.hpp"

#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

// KC of BLIS. A panel of this depth comes from the second-level cache as fast as it is used: a tile
// of six rows (of eight, with AVX-512) reads 64 bytes of it in six cycles (128 in eight). Cutting
// the depth costs more, since every cut loads and stores all tiles once again.
constexpr std::int64_t kDepth = 1024;
// MC. Rows of float16 are widened first, of a depth at which a block stays in the second-level
// cache meanwhile.
constexpr std::int64_t kRows = 192;
constexpr std::int64_t kHalfDepth = 384;
// NC, in panels.
constexpr std::int64_t kPanels = 8;

// Smaller tasks cost more to hand out than to run.
constexpr std::int64_t kWorkOfTask = 1 << 16;
// Up to six rows wait for their panels, and read more of them at once in a larger task.
constexpr std::int64_t kTasksOfFewRows = 8;

/// With up to six rows nothing is read twice, so that there is nothing to keep in a cache.
std::int64_t LargestDepth(std::int64_t rows, std::int64_t depth, bool a_half) {
  if (rows <= kTileRows) return depth;
  return a_half ? kHalfDepth : kDepth;
}

std::int64_t LargestPanels(std::int64_t products, std::int64_t row_blocks, std::int64_t rows,
                           std::int64_t panels, std::int64_t depth) {
  std::int64_t largest = kPanels;
  const std::int64_t wanted = rows <= kTileRows ? kTasksOfFewRows : kTasksOfKernel;
  const auto enough_tasks = [&] {
    return products >= wanted || row_blocks >= wanted ||
           products * row_blocks * EvenSplit(panels, largest).blocks() >= wanted;
  };
  while (largest > kTilePanels && !enough_tasks()) largest /= 2;
  const std::int64_t work_of_panel = std::min(rows, kRows) * depth * kPanel;
  while (largest < panels && work_of_panel < kWorkOfTask / largest) largest *= 2;
  return largest;
}

}  // namespace

MatrixBlocking::MatrixBlocking(std::int64_t products, std::int64_t row_count,
                               std::int64_t panel_count, std::int64_t whole_depth, bool a_half)
    : rows(row_count, kRows),
      panels(panel_count,
             LargestPanels(products, rows.blocks(), row_count, panel_count, whole_depth),
             kTilePanels),
      depth(whole_depth, LargestDepth(row_count, whole_depth, a_half)),
      widens_rows(a_half) {}

std::int64_t MatrixBlocking::ScratchFloats() const {
  return ResultFloats() + (widens_rows ? rows.largest() * depth.largest() : 0);
}

std::int64_t MatrixBlocking::ResultFloats() const {
  const bool continues = depth.blocks() > 1;
  return kPanel * (continues ? panels.largest() * rows.largest() : kMostTilePanels * kMostTileRows);
}

Tiles MatrixBlocking::TilesAt(float* results, std::int64_t panel, std::int64_t row) const {
  if (depth.blocks() == 1) return {results, kMostTileRows * kPanel};
  return {results + (panel * rows.largest() + row) * kPanel, rows.largest() * kPanel};
}

std::int64_t ThinColumns(ThinOrder order, std::int64_t depth, std::int64_t columns) {
  constexpr std::int64_t kNumbersOfTask = 1 << 16;
  constexpr std::int64_t kMost = 1024;
  // Of a shorter piece of a row, which is in a page of its own, too little is fetched ahead.
  const std::int64_t fewest = order == ThinOrder::kByRows ? 512 : 64;
  const std::int64_t most = std::clamp(kNumbersOfTask / depth, fewest, kMost) / kPanel * kPanel;
  return std::max<std::int64_t>(1, EvenSplit(columns, most, kPanel).largest());
}

}  // namespace poprt::kernels
