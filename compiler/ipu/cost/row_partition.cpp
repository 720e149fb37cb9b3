#include "compiler/ipu/cost/row_partition.hpp"

namespace poprt::ipu {

WorkerRows RowsOfWorker(std::uint64_t rows, std::uint64_t row_width, std::uint64_t workers,
                        std::uint64_t worker) {
  const std::uint64_t positions = rows * row_width;
  const std::uint64_t begin = worker * positions / workers;
  const std::uint64_t end = (worker + 1) * positions / workers;
  if (begin == end) return {};
  const std::uint64_t first_row = begin / row_width;
  const std::uint64_t end_row = end / row_width;  // the one that is cut at its end
  if (first_row == end_row) return {.first_width = end - begin};
  const bool cuts_first = begin % row_width > 0;
  return {.whole_rows = end_row - first_row - (cuts_first ? 1 : 0),
          .first_width = cuts_first ? row_width - begin % row_width : 0,
          .last_width = end % row_width};
}

}  // namespace poprt::ipu
