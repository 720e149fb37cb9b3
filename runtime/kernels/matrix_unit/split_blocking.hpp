#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/matrix_unit/matrix_unit.hpp"

namespace poprt::kernels {

/// Keeps offsets of rows in 32 bits.
inline constexpr std::int64_t kMostSplitStride = std::int64_t{1} << 26;
/// Rows whose sums are finished at once, at most.
inline constexpr std::int64_t kFinishedRows = 8;

/// A task of a product on the matrix unit: rows from `first_row` on by panels
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
/// its rows into parts once for every part of the depth, and then panels.
class SplitBlocking {
 public:
  /// Extents are not negative.
  SplitBlocking(std::int64_t rows, std::int64_t panels, std::int64_t depth, PanelNumbers numbers);

  /// Estimates in processor cycles of a product on the unit and, by tiles of registers, without.
  static double UnitCycles(std::int64_t rows, std::int64_t panels, std::int64_t depth,
                           PanelNumbers numbers);
  static double OrdinaryCycles(std::int64_t rows, std::int64_t panels, std::int64_t depth,
                               PanelNumbers numbers);
  /// How often panels are split.
  static std::int64_t RowBlocks(std::int64_t rows);

  /// Whether the unit is faster. Fewer rows than a tile has are left to registers.
  static bool Pays(std::int64_t rows, std::int64_t panels, std::int64_t depth,
                   PanelNumbers numbers);

  /// How rows and panels of `products` such products are cut so that `workers` have equally much to
  /// do, or each has something, if there is enough of it. No result depends on it.
  SplitTasks Tasks(int workers, std::int64_t products = 1) const;
  /// How a part of the product, of one worker, is cut into what its scratch memory is for.
  SplitTasks TasksOf(std::int64_t rows, std::int64_t panels) const;

  const EvenSplit& depth() const { return depth_; }
  PanelNumbers numbers() const { return numbers_; }

  /// Whether so few rows have panels split as they are multiplied, see SplitProduct. Those of a
  /// TransformedPanel take longer to split, and have the time of all rows.
  static bool AreFew(std::int64_t rows, PanelNumbers numbers) {
    return numbers != PanelNumbers::kTransformed && rows <= kSplitFewRows;
  }

  /// The first piece of a task, and the one behind a piece, if there is one. Panels are taken two
  /// by two, or one by one where more than kSplitPair rows are few.
  SplitPiece First(const SplitTask& task) const;
  bool Advance(const SplitTask& task, SplitPiece& piece) const;

  /// Of a worker, for MultiplySplit; a multiple of 64.
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
  std::int64_t NumbersOfRows() const { return RowTiles() * Steps() * kSplitStepNumbers; }
  std::int64_t NumbersOfPanels() const { return kSplitPanels * Steps() * kSplitStepNumbers; }
  std::int64_t SumsOfPanel() const { return RowTiles() * kSplitRows * kSplitGroup; }

  std::int64_t rows_;
  std::int64_t panels_;
  EvenSplit depth_;
  PanelNumbers numbers_;
};

}  // namespace poprt::kernels
