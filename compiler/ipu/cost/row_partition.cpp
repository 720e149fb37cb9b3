#include "compiler/ipu/cost/row_partition.hpp"

#include <numeric>

#include "compiler/ipu/cost/ceil_divide.hpp"

namespace poprt::ipu {

RowPartition PartitionRows(std::uint64_t rows, std::uint64_t row_width, std::uint64_t workers) {
  // Rows are cut into the fewest pieces that divide by the workers.
  const std::uint64_t pieces_per_row = workers / std::gcd(workers, rows);
  const std::uint64_t pieces = rows * pieces_per_row / workers;
  const std::uint64_t whole_rows = pieces / pieces_per_row;
  const std::uint64_t cut_pieces = pieces % pieces_per_row;
  return RowPartition{
      .busiest = {.whole_rows = whole_rows,
                  .cut_width = CeilDivide(cut_pieces * row_width, pieces_per_row)},
      .idlest = {.whole_rows = whole_rows, .cut_width = cut_pieces * row_width / pieces_per_row}};
}

}  // namespace poprt::ipu
