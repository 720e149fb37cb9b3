#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace poprt::ipu {

/// What one of the worker threads has of the output rows of a tile. Each has as many positions as
/// the others, one after the other, so that its first and its last row may be cut.
struct WorkerRows {
  std::uint64_t whole_rows = 0;
  std::uint64_t first_width = 0;  ///< positions of an incomplete row; 0 when there is none
  std::uint64_t last_width = 0;
};

WorkerRows RowsOfWorker(std::uint64_t rows, std::uint64_t row_width, std::uint64_t workers,
                        std::uint64_t worker);

/// Of the workers of a tile.
struct WorkerCycles {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most = 0;
};

/// What the workers take for their rows when a row of n positions takes `row(n)`.
template <typename Row>
WorkerCycles CyclesOfRows(std::uint64_t rows, std::uint64_t row_width, std::uint64_t workers,
                          const Row& row) {
  WorkerCycles cycles;
  for (std::uint64_t worker = 0; worker < workers; ++worker) {
    const WorkerRows work = RowsOfWorker(rows, row_width, workers, worker);
    const std::uint64_t own = (work.whole_rows > 0 ? work.whole_rows * row(row_width) : 0) +
                              (work.first_width > 0 ? row(work.first_width) : 0) +
                              (work.last_width > 0 ? row(work.last_width) : 0);
    cycles.least = std::min(cycles.least, own);
    cycles.most = std::max(cycles.most, own);
  }
  return cycles;
}

}  // namespace poprt::ipu
