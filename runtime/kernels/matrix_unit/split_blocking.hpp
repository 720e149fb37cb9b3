#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/matrix_unit/matrix_unit.hpp"

namespace poprt::kernels {

/// How many parts numbers have, see matrix_unit.hpp.
struct SplitParts {
  int of_rows = kFloatParts;
  int of_panels = kFloatParts;
};

/// A task of a product on the matrix unit: rows from `first_row` on, a multiple of 16, by panels
/// [first_panel, last_panel).
struct SplitTask {
  std::int64_t first_row;
  std::int64_t rows;
  std::int64_t first_panel;
  std::int64_t last_panel;
};

/// How rows and panels are cut into tasks.
struct SplitTasks {
  EvenSplit rows;
  EvenSplit panels;

  std::int64_t count() const { return rows.blocks() * panels.blocks(); }
  /// The task of number [0, count()): workers share out rows where these are more than columns, so
  /// that each finds near what it wrote, else panels, so that each reads weights of its own.
  SplitTask At(std::int64_t number) const;
};

/// A part of the depth, [begin, end), by one or two panels.
struct SplitPiece {
  std::int64_t part;  ///< its number
  std::int64_t begin;
  std::int64_t end;
  std::int64_t panel;  ///< the first one
  int panels;

  std::int64_t depth() const { return end - begin; }
  std::int64_t steps() const { return (depth() + kSplitStep - 1) / kSplitStep; }
};

/// How a product of rows x depth by depth x panels * 16 is cut for the matrix unit. A task splits
/// its rows into parts once for every part of the depth, and then panels two by two.
class SplitBlocking {
 public:
  /// Extents are not negative.
  SplitBlocking(std::int64_t rows, std::int64_t panels, std::int64_t depth, SplitParts parts);

  /// Whether splitting the operands costs less than the matrix unit saves.
  static bool Pays(std::int64_t rows, std::int64_t panels, std::int64_t depth, SplitParts parts);

  /// How rows and panels of `products` such products are cut so that `workers` have equally much to
  /// do. No result depends on it.
  SplitTasks Tasks(int workers, std::int64_t products = 1) const;
  /// How a part of the product, of one worker, is cut into what its scratch memory is for.
  SplitTasks TasksOf(std::int64_t rows, std::int64_t panels) const;

  const EvenSplit& depth() const { return depth_; }
  const SplitParts& parts() const { return parts_; }

  /// The first piece of a task, and the one behind a piece, if there is one.
  SplitPiece First(const SplitTask& task) const;
  bool Advance(const SplitTask& task, SplitPiece& piece) const;

  /// Of a worker, for MultiplySplit.
  std::size_t ScratchBytes() const;

  /// The parts of the scratch memory.
  struct Scratch {
    std::uint16_t* rows;       ///< [tile of rows][step][part] tiles
    std::uint16_t* panels[2];  ///< [panel][step][part] tiles, of a piece and of the next
    float* sums;               ///< [panel][row][16], between parts of the depth
    std::int64_t sums_stride;  ///< from one panel to the next
  };
  Scratch ScratchAt(std::byte* scratch) const;

 private:
  SplitPiece PieceAt(const SplitTask& task, std::int64_t part, std::int64_t panel) const;
  std::int64_t RowTiles() const;
  std::int64_t Steps() const { return (depth_.largest() + kSplitStep - 1) / kSplitStep; }
  std::int64_t NumbersOfRows() const { return RowTiles() * Steps() * parts_.of_rows * kSplitTile; }
  std::int64_t NumbersOfPanels() const {
    return kSplitPanels * Steps() * parts_.of_panels * kSplitTile;
  }
  std::int64_t SumsOfPanel() const { return RowTiles() * kSplitRows * kSplitGroup; }

  std::int64_t rows_;
  std::int64_t panels_;
  EvenSplit depth_;
  SplitParts parts_;
};

/// Calls finish for the sums of a pair of tiles of rows, [panel][kSplitPair][16], or, where some
/// are not finite, finish or compute for each row of a panel, so that no result depends on those
/// beside it.
template <class Finish, class Compute>
void FinishSplit(const MatrixUnit& unit, const SplitTask& task, const float* sums, Finish finish,
                 Compute compute) {
  const std::int64_t panels = task.last_panel - task.first_panel;
  bool all_finite = true;
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    all_finite &= unit.are_finite(sums + panel * kSplitPairSums, task.rows * kSplitGroup);
  }
  if (all_finite) return finish(task, sums);
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    for (std::int64_t row = 0; row < task.rows; ++row) {
      const float* const of_row = sums + panel * kSplitPairSums + row * kSplitGroup;
      const SplitTask one{task.first_row + row, 1, task.first_panel + panel,
                          task.first_panel + panel + 1};
      if (unit.are_finite(of_row, kSplitGroup)) {
        finish(one, of_row);
      } else {
        compute(one);
      }
    }
  }
}

/// Where rows of numbers that lie side by side, `stride` from one row to the next, are found.
class RowMajorRows {
 public:
  /// `stride` is at most kMostSplitStride.
  explicit RowMajorRows(std::int64_t stride) {
    for (std::int64_t r = 0; r < kSplitRows; ++r) {
      offsets_[r] = static_cast<std::int32_t>(r * stride);
    }
  }
  /// Fills in a step of the depth whose numbers, `count` of which are left, begin at `first`.
  void Find(const float* first, std::int64_t count, SplitRows& rows) const {
    for (std::int64_t i = 0; i < 2; ++i, first += kSplitGroup, count -= kSplitGroup) {
      rows.first[i] = first;
      rows.offsets[i] = offsets_;
      rows.lanes[i] = static_cast<std::int32_t>(std::clamp<std::int64_t>(count, 0, kSplitGroup));
    }
  }

 private:
  std::int32_t offsets_[kSplitRows];
};

/// Calls a function of sums, row, and rows, which has to live as long.
template <class Function>
SplitFinish SplitFinishOf(const Function& function) {
  return {.run =
              [](const void* context, const float* sums, std::int64_t row, std::int64_t rows) {
                (*static_cast<const Function*>(context))(sums, row, rows);
              },
          .context = &function};
}

/// Keeps offsets of rows in 32 bits.
inline constexpr std::int64_t kMostSplitStride = std::int64_t{1} << 22;

/// Computes a task: rows_at(row, k, rows) fills in where rows.rows rows of A from `row` on find
/// their numbers of the step of the depth from k on; panel_at(panel, k) is row k of a panel, of
/// float16 where that has two parts; start_at(panel) is what the sums of its 16 columns start from.
/// finish(task, sums) takes the sums of one or two panels, kSplitPairSums apart, [row][16], of some
/// rows whose sums are finite; compute(task) has to compute others, without the unit, which is at
/// work. One or the other has been called for all rows of a panel before it is for panels behind.
template <class RowsAt, class PanelAt, class StartAt, class Finish, class Compute>
void MultiplySplit(const MatrixUnit& unit, const SplitBlocking& blocking, const SplitTask& task,
                   RowsAt rows_at, PanelAt panel_at, StartAt start_at, Finish finish,
                   Compute compute, std::byte* memory) {
  const SplitBlocking::Scratch scratch = blocking.ScratchAt(memory);
  const SplitParts parts = blocking.parts();
  const auto split_rows = [&](const SplitPiece& piece) {
    std::uint16_t* tiles = scratch.rows;
    for (std::int64_t row = 0; row < task.rows; row += kSplitRows) {
      SplitRows rows;
      rows.rows = static_cast<std::int32_t>(std::min(kSplitRows, task.rows - row));
      for (std::int64_t k = piece.begin; k < piece.end; k += kSplitStep) {
        rows_at(task.first_row + row, k, rows);
        unit.split_rows(rows, parts.of_rows, tiles);
        tiles += parts.of_rows * kSplitTile;
      }
    }
  };
  const auto split_panels = [&](const SplitPiece& piece, std::uint16_t* tiles) {
    for (int i = 0; i < piece.panels; ++i) {
      const void* const panel = panel_at(piece.panel + i, piece.begin);
      if (parts.of_panels == kHalfParts) {
        unit.split_panel_f16(static_cast<const std::uint16_t*>(panel), piece.depth(), tiles);
      } else {
        unit.split_panel_f32(static_cast<const float*>(panel), piece.depth(), tiles);
      }
      tiles += piece.steps() * parts.of_panels * kSplitTile;
    }
  };
  SplitPiece piece = blocking.First(task);
  int buffer = 0;
  split_panels(piece, scratch.panels[buffer]);
  for (bool is_last = false; !is_last; buffer = 1 - buffer) {
    if (piece.panel == task.first_panel) split_rows(piece);
    SplitPiece next = piece;
    is_last = !blocking.Advance(task, next);
    std::uint16_t* const next_tiles = scratch.panels[1 - buffer];
    // Whole steps are split while the unit works on these.
    const bool meanwhile = !is_last && next.depth() % kSplitStep == 0;
    const auto finish_pair = [&](const float* sums, std::int64_t row, std::int64_t rows) {
      FinishSplit(unit, {task.first_row + row, rows, piece.panel, piece.panel + piece.panels}, sums,
                  finish, compute);
    };
    const SplitFinish finish_last = SplitFinishOf(finish_pair);
    SplitProduct product{.a = scratch.rows,
                         .b = scratch.panels[buffer],
                         .rows = task.rows,
                         .panels = piece.panels,
                         .steps = piece.steps(),
                         .a_parts = parts.of_rows,
                         .b_parts = parts.of_panels,
                         .sums = scratch.sums + (piece.panel - task.first_panel) * scratch.sums_stride,
                         .sums_stride = scratch.sums_stride,
                         .accumulate = piece.part > 0,
                         .finish = piece.end == blocking.depth().count() ? &finish_last : nullptr,
                         .start = {},
                         .next = {},
                         .ahead = {},
                         .next_panels = meanwhile ? next.panels : 0,
                         .next_steps = next.steps(),
                         .next_tiles = next_tiles};
    for (int i = 0; i < piece.panels; ++i) product.start[i] = start_at(piece.panel + i);
    SplitPiece ahead = next;
    blocking.Advance(task, ahead);
    for (int i = 0; i < product.next_panels; ++i) {
      product.next[i] = panel_at(next.panel + i, next.begin);
      product.ahead[i] = panel_at(ahead.panel + std::min(i, ahead.panels - 1), ahead.begin);
    }
    unit.multiply(product);
    if (!is_last && !meanwhile) split_panels(next, next_tiles);
    piece = next;
  }
}

}  // namespace poprt::kernels
