#include "runtime/kernels/matrix_unit/split_blocking.hpp"

#include <algorithm>

#include "runtime/kernels/ceil_div.hpp"

namespace poprt::kernels {
namespace {

// The parts of a block of rows and of a part of the depth stay in the second-level cache, 2 MiB of
// all processors with such a unit, while all panels pass by. More rows share the work of splitting
// panels; a longer depth stores sums less often.
constexpr std::int64_t kRows = 256;
constexpr std::int64_t kFewestRows = 48;
constexpr std::int64_t kDepth = 768;
constexpr std::int64_t kNumbers = 300 << 9;
// Sums of so many panels are kept there from one part of the depth to the next.
constexpr std::int64_t kPanels = 96;

// Cycles of splitting a tile into each of its parts: of rows, from near, and of panels, which may
// come from farther away; of the unit for a row, a panel, a step of the depth and two of their
// parts; and without the unit for a row, a panel and a step, of floats and of integers, and for a
// panel and a step of scaled panels that are widened. Measured.
constexpr double kRowTileCycles = 92;
constexpr double kPanelTileCycles = 109;
constexpr double kUnitCycles = 1.52;
constexpr double kOrdinaryCycles = 17;
constexpr double kOrdinaryIntegerCycles = 13.5;
constexpr double kWidenCycles = 140;
// For few rows: of splitting a step of a panel, of a tile of rows that it is multiplied by, and
// until all rows have been split.
constexpr double kFewPanelCycles = 110;
constexpr double kFewTileCycles = 72;
constexpr double kFewStartCycles = 1500;
// Cycles for the sums of a row and a panel to be stored, and read again, beside the unit, and to be
// stored from registers.
constexpr double kSumCycles = 8;
constexpr double kOrdinarySumCycles = 6;
// Until the unit has something to do: 2000, or 8000 more where it has not been used for 100 us,
// which one product after the other rarely are.
constexpr double kStartCycles = 3000;

bool SharesRows(std::int64_t rows, std::int64_t panels) { return rows >= panels * kSplitGroup; }

/// Cuts an axis until there are enough tasks, or it cannot be cut further: rows evenly, since some
/// of a tile take the unit less time than all, and panels two by two.
template <class Enough>
bool CutUntil(const Enough& are_enough, bool cuts_rows, SplitTasks& tasks) {
  EvenSplit& split = cuts_rows ? tasks.rows : tasks.panels;
  const std::int64_t fewest = cuts_rows ? kFewestRows : kSplitPanels;
  while (!are_enough(tasks.count())) {
    const std::int64_t smaller = split.largest() - 1;
    const std::int64_t largest = cuts_rows
                                     ? std::min(smaller, CeilDiv(split.count(), split.blocks() + 1))
                                     : smaller / kSplitPanels * kSplitPanels;
    if (largest < fewest) return false;
    split = split.WithLargest(largest);
  }
  return true;
}

std::int64_t LargestDepth(std::int64_t rows) {
  return std::min(kDepth, kNumbers / std::max<std::int64_t>(rows, 1) / kScaledBlock * kScaledBlock);
}

}  // namespace

SplitBlocking::SplitBlocking(std::int64_t rows, std::int64_t panels, std::int64_t depth,
                             PanelNumbers numbers)
    : rows_(rows),
      panels_(panels),
      depth_(depth, LargestDepth(std::min(rows, kRows)), kScaledBlock),
      numbers_(numbers) {}

std::int64_t SplitBlocking::RowBlocks(std::int64_t rows) { return CeilDiv(rows, kRows); }

double SplitBlocking::UnitCycles(std::int64_t rows, std::int64_t panels, std::int64_t depth,
                                 PanelNumbers numbers) {
  const auto steps = static_cast<double>(CeilDiv(depth, kSplitStep));
  const auto tiles = static_cast<double>(CeilDiv(rows, kSplitRows));
  const double sums = static_cast<double>(rows) * static_cast<double>(panels);
  const double split_panels = static_cast<double>(RowBlocks(rows)) * static_cast<double>(panels);
  const double split_rows = static_cast<double>(CeilDiv(panels, kPanels)) * tiles;
  const double of_rest =
      steps * kSplitParts * kRowTileCycles * split_rows + kSumCycles * sums + kStartCycles;
  if (AreFew(rows, numbers)) {
    const double of_step = kFewPanelCycles + kFewTileCycles * tiles;
    return steps * of_step * static_cast<double>(panels) + of_rest + kFewStartCycles;
  }
  return steps *
             (kUnitCycles * kSplitProducts * sums + kSplitParts * kPanelTileCycles * split_panels) +
         of_rest;
}

double SplitBlocking::OrdinaryCycles(std::int64_t rows, std::int64_t panels, std::int64_t depth,
                                     PanelNumbers numbers) {
  const double steps = static_cast<double>(depth) / kSplitStep;
  const double sums = static_cast<double>(rows) * static_cast<double>(panels);
  const double of_sum =
      numbers == PanelNumbers::kInteger ? kOrdinaryIntegerCycles : kOrdinaryCycles;
  const double widened = numbers == PanelNumbers::kScaled ? static_cast<double>(panels) : 0;
  return steps * (of_sum * sums + kWidenCycles * widened) + kOrdinarySumCycles * sums;
}

bool SplitBlocking::Pays(std::int64_t rows, std::int64_t panels, std::int64_t depth,
                         PanelNumbers numbers) {
  return rows >= kSplitRows && panels > 0 && depth >= kSplitGroup &&
         UnitCycles(rows, panels, depth, numbers) < OrdinaryCycles(rows, panels, depth, numbers);
}

SplitTask SplitTasks::At(std::int64_t number) const {
  const bool by_rows = SharesRows(rows.count(), panels.count());
  const std::int64_t row = by_rows ? number / panels.blocks() : number % rows.blocks();
  const std::int64_t panel = by_rows ? number % panels.blocks() : number / rows.blocks();
  return {rows.begin(row), rows.end(row) - rows.begin(row), panels.begin(panel), panels.end(panel)};
}

SplitTasks SplitBlocking::Tasks(int workers, std::int64_t products) const {
  const SplitTasks whole = TasksOf(rows_, panels_);
  const bool shares_rows = SharesRows(rows_, panels_);
  const auto is_even = [&](std::int64_t tasks) { return products * tasks % workers == 0; };
  for (const bool cuts_rows : {shares_rows, !shares_rows}) {
    SplitTasks tasks = whole;
    if (CutUntil(is_even, cuts_rows, tasks)) return tasks;
  }
  SplitTasks tasks = whole;
  for (const bool cuts_rows : {shares_rows, !shares_rows}) {
    CutUntil([&](std::int64_t count) { return products * count >= workers; }, cuts_rows, tasks);
  }
  return tasks;
}

SplitTasks SplitBlocking::TasksOf(std::int64_t rows, std::int64_t panels) const {
  return {EvenSplit(rows, kRows, kSplitRows), EvenSplit(panels, kPanels, kSplitPanels)};
}

SplitPiece SplitBlocking::PieceAt(const SplitTask& task, std::int64_t part,
                                  std::int64_t panel) const {
  const std::int64_t most =
      AreFew(task.rows, numbers_) && task.rows > kSplitPair ? 1 : kSplitPanels;
  return {.part = part,
          .begin = depth_.begin(part),
          .end = depth_.end(part),
          .panel = panel,
          .panels = static_cast<int>(std::min(most, task.last_panel - panel))};
}

SplitPiece SplitBlocking::First(const SplitTask& task) const {
  return PieceAt(task, 0, task.first_panel);
}

bool SplitBlocking::Advance(const SplitTask& task, SplitPiece& piece) const {
  if (piece.panel + piece.panels < task.last_panel) {
    piece = PieceAt(task, piece.part, piece.panel + piece.panels);
    return true;
  }
  if (piece.part + 1 == depth_.blocks()) return false;
  piece = PieceAt(task, piece.part + 1, task.first_panel);
  return true;
}

std::int64_t SplitBlocking::RowTiles() const { return CeilDiv(std::min(rows_, kRows), kSplitRows); }

std::size_t SplitBlocking::ScratchBytes() const {
  const std::int64_t panels = depth_.blocks() > 1 ? std::min(kPanels, panels_) : 0;
  return static_cast<std::size_t>(NumbersOfRows() + 2 * NumbersOfPanels()) * sizeof(std::uint16_t) +
         static_cast<std::size_t>(panels * SumsOfPanel()) * sizeof(float);
}

SplitBlocking::Scratch SplitBlocking::ScratchAt(std::byte* scratch) const {
  auto* const rows = reinterpret_cast<std::uint16_t*>(scratch);
  std::uint16_t* const panels = rows + NumbersOfRows();
  return {.rows = rows,
          .panels = {panels, panels + NumbersOfPanels()},
          .sums = reinterpret_cast<float*>(panels + 2 * NumbersOfPanels()),
          .sums_stride = SumsOfPanel()};
}

}  // namespace poprt::kernels
