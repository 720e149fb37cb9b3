#pragma once

#include <cstdint>

namespace poprt::ipu {

/// Work of one of the worker threads among which output rows are divided: rows are cut only when
/// their number does not divide by the workers.
struct WorkerRows {
  std::uint64_t whole_rows = 0;
  std::uint64_t cut_width = 0;  ///< positions of one more, incomplete row; 0 when there is none
};

/// The shares of the busiest and of the idlest worker.
struct RowPartition {
  WorkerRows busiest;
  WorkerRows idlest;
};

RowPartition PartitionRows(std::uint64_t rows, std::uint64_t row_width, std::uint64_t workers);

}  // namespace poprt::ipu
