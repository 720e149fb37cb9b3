#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/task_grid.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/thread_pool.hpp"

namespace poprt::kernels {

/// Cuts work on the blocks of channels of an image into tasks: some blocks each, or some rows of
/// one block. Estimated from sizes only.
class PlaneTasks {
 public:
  /// For an output image of whose pixels each takes `steps` >= 1 vector operations.
  PlaneTasks(const BlockedImage& out, std::int64_t steps)
      : images_(out.batch),
        planes_(out.batch * out.blocks, std::max<std::int64_t>(1, kSteps / Cost(out, steps))),
        rows_(out.height, RowsOfTask(out, steps)) {}

  /// Block sizes: planes, rows.
  Ints Cut(const Attributes& attributes) { return CutIntoBlocks(attributes, {&planes_, &rows_}); }

  /// Calls f(plane, first row, one past the last row) for all of them; planes are counted through
  /// all images.
  template <typename F>
  void Run(ThreadPool& pool, const F& f) const {
    const TaskGrid grid = TaskGrid::OfPlanes(images_, rows_.blocks(), planes_.blocks());
    pool.Run(grid.count(), [&](std::int64_t index, int /*worker*/) {
      const auto [rows, planes] = grid.At(index);
      for (std::int64_t p = planes_.begin(planes); p < planes_.end(planes); ++p) {
        f(p, rows_.begin(rows), rows_.end(rows));
      }
    });
  }

 private:
  /// Vector operations of a task, a few microseconds; of a part of a plane, whose edge costs more.
  static constexpr std::int64_t kSteps = 1 << 11;
  static constexpr std::int64_t kStepsOfRows = 1 << 12;
  /// Keeps products in range; larger sizes differ in nothing.
  static constexpr std::int64_t kMost = std::int64_t{1} << 20;

  static std::int64_t RowCost(const BlockedImage& out, std::int64_t steps) {
    return std::clamp<std::int64_t>(out.width, 1, kMost) * std::min(steps, kMost);
  }
  static std::int64_t Cost(const BlockedImage& out, std::int64_t steps) {
    return std::clamp<std::int64_t>(out.height, 1, kMost) * RowCost(out, steps);
  }
  static std::int64_t RowsOfTask(const BlockedImage& out, std::int64_t steps) {
    return std::max<std::int64_t>(1, kStepsOfRows / RowCost(out, steps));
  }

  std::int64_t images_;
  EvenSplit planes_;
  EvenSplit rows_;
};

}  // namespace poprt::kernels
