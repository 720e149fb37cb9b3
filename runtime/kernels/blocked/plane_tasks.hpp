#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/thread_pool.hpp"

namespace poprt::kernels {

/// Cuts work on the blocks of channels of an image into tasks: some blocks each, or some rows of
/// one block. Estimated from sizes only.
class PlaneTasks {
 public:
  /// For an output image of whose pixels each takes `steps` >= 1 vector operations.
  PlaneTasks(const BlockedImage& out, std::int64_t steps)
      : planes_(out.batch * out.blocks, std::max<std::int64_t>(1, kSteps / Cost(out, steps))),
        rows_(out.height, RowsOfTask(out, steps)) {}

  /// Block sizes: planes, rows.
  Ints Cut(const Attributes& attributes) { return CutIntoBlocks(attributes, {&planes_, &rows_}); }

  /// Calls f(plane, first row, one past the last row) for all of them; planes are counted through
  /// all images.
  template <typename F>
  void Run(ThreadPool& pool, const F& f) const {
    pool.Run(planes_.blocks() * rows_.blocks(), [&](std::int64_t task, int /*worker*/) {
      const std::int64_t planes = task / rows_.blocks();
      const std::int64_t rows = task % rows_.blocks();
      for (std::int64_t p = planes_.begin(planes); p < planes_.end(planes); ++p) {
        f(p, rows_.begin(rows), rows_.end(rows));
      }
    });
  }

 private:
  /// Vector operations of a task, some ten microseconds.
  static constexpr std::int64_t kSteps = 1 << 14;
  /// Keeps products in range; larger sizes differ in nothing.
  static constexpr std::int64_t kMost = std::int64_t{1} << 20;

  static std::int64_t RowCost(const BlockedImage& out, std::int64_t steps) {
    return std::clamp<std::int64_t>(out.width, 1, kMost) * std::min(steps, kMost);
  }
  static std::int64_t Cost(const BlockedImage& out, std::int64_t steps) {
    return std::clamp<std::int64_t>(out.height, 1, kMost) * RowCost(out, steps);
  }
  static std::int64_t RowsOfTask(const BlockedImage& out, std::int64_t steps) {
    return std::max<std::int64_t>(1, kSteps / RowCost(out, steps));
  }

  EvenSplit planes_;
  EvenSplit rows_;
};

}  // namespace poprt::kernels
