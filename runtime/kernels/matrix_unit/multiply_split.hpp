#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/kernels/matrix_unit/split_blocking.hpp"
#include "runtime/kernels/matrix_unit/started_unit.hpp"

namespace poprt::kernels {

/// Where rows of numbers that lie side by side, `stride` from one row to the next, are found.
class RowMajorRows {
 public:
  /// `stride` is at most kMostSplitStride.
  explicit RowMajorRows(std::int64_t stride) {
    for (std::int64_t r = 0; r < kSplitAtOnce; ++r) {
      offsets_[r] = static_cast<std::int32_t>(r * stride);
    }
  }
  /// Has a row count as zeros.
  void LeaveOut(std::int64_t row) { offsets_[row] = kSplitZeros; }
  /// Fills in a step of the depth whose numbers, `count` of which are left, begin at `first`.
  void Find(const float* first, std::int64_t count, SplitRows& rows) const {
    for (std::int64_t i = 0; i < 2; ++i, first += kSplitGroup, count -= kSplitGroup) {
      rows.first[i] = first;
      rows.offsets[i] = offsets_;
      rows.lanes[i] = static_cast<std::int32_t>(std::clamp<std::int64_t>(count, 0, kSplitGroup));
    }
  }

 private:
  std::int32_t offsets_[kSplitAtOnce];
};

/// For products to which nothing is added.
inline const float* StartFromZero(std::int64_t /*panel*/) {
  alignas(64) static constexpr float kZeros[kSplitGroup] = {};
  return kZeros;
}

/// The functions that MultiplySplit calls.
template <class RowsAt, class PanelAt, class StartAt, class Finish, class Compute>
struct SplitOperands {
  RowsAt rows_at;
  PanelAt panel_at;
  StartAt start_at;
  Finish finish;
  Compute compute;
};

/// A task that is being computed. What the processor has to do for it, splitting operands and
/// finishing sums, it does in small pieces while the unit works.
template <class Operands>
class SplitMultiplication final : SplitWork {
 public:
  SplitMultiplication(const MatrixUnit& unit, const SplitBlocking& blocking, const SplitTask& task,
                      const Operands& operands, std::byte* memory)
      : unit_(unit),
        blocking_(blocking),
        task_(task),
        has_few_rows_(SplitBlocking::AreFew(task.rows, blocking.numbers())),
        operands_(operands),
        scratch_(blocking.ScratchAt(memory)) {}

  void Run() {
    StartedUnit started(&unit_);
    started.Start();
    SplitPiece piece = blocking_.First(task_);
    if (!has_few_rows_) SplitPanels(piece, scratch_.panels[0]);
    for (bool is_last = false; !is_last;) {
      SplitPiece next = piece;
      is_last = !blocking_.Advance(task_, next);
      if (piece.panel == task_.first_panel) StartRows(piece);
      Multiply(piece, next, is_last);
      std::swap(scratch_.panels[0], scratch_.panels[1]);
      piece = next;
    }
    FinishRows();
  }

 private:
  // ---- Operands -------------------------------------------------------------------------------

  PanelsToSplit PanelsOf(const SplitPiece& piece) const {
    PanelsToSplit panels{.numbers = blocking_.numbers(),
                         .panels = {},
                         .count = piece.panels,
                         .depth = piece.depth()};
    for (int i = 0; i < piece.panels; ++i) {
      panels.panels[i] = operands_.panel_at(piece.panel + i, piece.begin, piece.depth());
    }
    return panels;
  }

  void SplitPanels(const SplitPiece& piece, std::uint16_t* tiles) const {
    const PanelsToSplit panels = PanelsOf(piece);
    for (int i = 0; i < piece.panels; ++i) {
      unit_.split_panel(panels.numbers, panels.panels[i], panels.depth, tiles);
      tiles += piece.steps() * kSplitStepNumbers;
    }
  }

  void StartRows(const SplitPiece& piece) {
    part_ = piece;
    next_k_ = piece.begin;
    next_row_ = 0;
    SetLeft();
  }

  /// A step of the depth of some rows of a tile.
  void SplitSomeRows() {
    SplitRows rows;
    rows.rows = static_cast<std::int32_t>(std::min(kSplitAtOnce, task_.rows - next_row_));
    operands_.rows_at(task_.first_row + next_row_, next_k_, rows);
    const std::int64_t step = (next_k_ - part_.begin) / kSplitStep;
    const std::int64_t tile = next_row_ / kSplitRows * part_.steps() + step;
    unit_.split_rows(
        rows, scratch_.rows + tile * kSplitStepNumbers + next_row_ % kSplitRows * kSplitStep);
    next_k_ += kSplitStep;
    if (next_k_ < part_.end) return;
    next_k_ = part_.begin;
    next_row_ += kSplitAtOnce;
  }

  // ---- Products -------------------------------------------------------------------------------

  void Multiply(const SplitPiece& piece, const SplitPiece& next, bool is_last) {
    // Whole steps are split while the unit works on these.
    const bool meanwhile = !has_few_rows_ && !is_last && next.depth() % kSplitStep == 0;
    SplitProduct product{
        .a = scratch_.rows,
        .b = has_few_rows_ ? nullptr : scratch_.panels[0],
        .rows = task_.rows,
        .panels = piece.panels,
        .steps = piece.steps(),
        .sums = scratch_.sums + (piece.panel - task_.first_panel) * scratch_.sums_stride,
        .sums_stride = scratch_.sums_stride,
        .accumulate = piece.part > 0,
        .is_last = piece.end == blocking_.depth().count(),
        .pair_sums = {pair_sums_[0], pair_sums_[1]},
        .start = {},
        .split = {},
        .next_tiles = scratch_.panels[1],
        .work = this};
    for (int i = 0; i < piece.panels; ++i) {
      product.start[i] = operands_.start_at(piece.panel + i);
    }
    if (has_few_rows_ || meanwhile) product.split = PanelsOf(has_few_rows_ ? piece : next);
    panel_ = piece.panel;
    panels_ = piece.panels;
    unit_.multiply(product);
    if (!has_few_rows_ && !is_last && !meanwhile) SplitPanels(next, scratch_.panels[1]);
  }

  // ---- While the unit works -------------------------------------------------------------------

  void SetLeft() { is_left = finished_row_ < finished_end_ || next_row_ < task_.rows; }

  void Before(std::int64_t end) override {
    while (next_row_ < end) SplitSomeRows();
    SetLeft();
  }

  void Meanwhile() override {
    if (finished_row_ < finished_end_) {
      FinishSomeRows();
    } else {
      SplitSomeRows();
    }
    SetLeft();
  }

  void After(std::int64_t row, std::int64_t end) override {
    FinishRows();
    finished_ = {task_.first_row, task_.rows, panel_, panel_ + panels_};
    finished_row_ = row;
    finished_end_ = end;
    finished_sums_ = pair_sums_[0];
    std::swap(pair_sums_[0], pair_sums_[1]);
    SetLeft();
  }

  void FinishRows() {
    while (finished_row_ < finished_end_) FinishSomeRows();
  }

  void FinishSomeRows() {
    SplitTask some = finished_;
    some.first_row += finished_row_;
    some.rows = std::min(kFinishedRows, finished_end_ - finished_row_);
    Finish(some, finished_sums_);
    finished_row_ += some.rows;
    finished_sums_ += some.rows * kSplitGroup;
  }

  /// Where some are not finite each row of a panel is finished, or computed, of its own, so that
  /// which are does not depend on those beside it.
  void Finish(const SplitTask& task, const float* sums) {
    const std::int64_t panels = task.last_panel - task.first_panel;
    bool are_finite = true;
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      are_finite &=
          unit_.are_below(kInfiniteSum, sums + panel * kSplitPairSums, task.rows * kSplitGroup);
    }
    if (are_finite) return operands_.finish(task, sums);
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      for (std::int64_t row = 0; row < task.rows; ++row) {
        const float* const of_row = sums + panel * kSplitPairSums + row * kSplitGroup;
        const SplitTask one{task.first_row + row, 1, task.first_panel + panel,
                            task.first_panel + panel + 1};
        if (unit_.are_below(kInfiniteSum, of_row, kSplitGroup)) {
          operands_.finish(one, of_row);
        } else {
          operands_.compute(one.first_row, one.first_panel);
        }
      }
    }
  }

  const MatrixUnit& unit_;
  const SplitBlocking& blocking_;
  const SplitTask task_;
  const bool has_few_rows_;
  const Operands& operands_;
  SplitBlocking::Scratch scratch_;
  // Rows that are to be split: of a part of the depth, from a step of some rows on.
  SplitPiece part_{};
  std::int64_t next_row_ = 0;
  std::int64_t next_k_ = 0;
  // Panels of the piece that is being multiplied.
  std::int64_t panel_ = 0;
  int panels_ = 0;
  // Rows [finished_row_, finished_end_) of the task whose sums are to be finished.
  SplitTask finished_{};
  std::int64_t finished_row_ = 0;
  std::int64_t finished_end_ = 0;
  const float* finished_sums_ = nullptr;
  alignas(64) float sums_[2][kSplitPanels * kSplitPairSums];
  float* pair_sums_[2] = {sums_[0], sums_[1]};  ///< the next pair's, and that of the pair behind it
};

/// Computes a task: rows_at(row, k, rows) fills in where rows.rows rows of A from `row` on find
/// their numbers of the step of the depth from k on; panel_at(panel, k, n) is where rows [k, k + n)
/// of a panel are until this has been called for two more, k a multiple of kScaledBlock;
/// start_at(panel) is what the sums of its 16 columns start from.
/// finish(task, sums) takes the sums of one or two panels, kSplitPairSums apart, [row][16], of up
/// to kFinishedRows rows whose sums are finite; compute(row, panel) has to compute one row of one
/// panel that is not, without the unit, which is at work.
template <class RowsAt, class PanelAt, class StartAt, class Finish, class Compute>
void MultiplySplit(const MatrixUnit& unit, const SplitBlocking& blocking, const SplitTask& task,
                   const RowsAt& rows_at, const PanelAt& panel_at, const StartAt& start_at,
                   const Finish& finish, const Compute& compute, std::byte* memory) {
  const SplitOperands<const RowsAt&, const PanelAt&, const StartAt&, const Finish&, const Compute&>
      operands{rows_at, panel_at, start_at, finish, compute};
  SplitMultiplication(unit, blocking, task, operands, memory).Run();
}

}  // namespace poprt::kernels
