#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ipu/plan/plan.hpp"

namespace poprt::ipu {

/// How many I/O tiles a program should have, and why: what is predicted for each number that was
/// tried, one per line, next to the documented rule.
struct IoTileChoice {
  std::uint32_t io_tiles = 0;
  std::string reason;
};

/// Plans all graphs of the program for a partition: with fewer compute tiles they are other plans.
using PlanForPartition =
    std::function<absl::StatusOr<std::vector<GraphPlan>>(const TilePartition& partition)>;

/// The number of I/O tiles with the highest predicted throughput (section 5.1) of those that fit
/// into memory, the smaller of equal ones. 0 when overlapping transfers does not pay. With several
/// graphs it is the geometric mean of their throughputs that counts. Tried are 0, the rule that
/// PopRT documents (DocumentedIoTiles) and even numbers about it, in ascending order until two in a
/// row are slower than the best; `plan` is called once for each. Its errors are returned.
absl::StatusOr<IoTileChoice> ChooseIoTiles(const Target& target, const Platform& platform,
                                           const PlanOptions& options,
                                           const PlanForPartition& plan);

/// PopRT's rule (section 5.1): the bytes of all inputs and outputs of a batch over the memory of a
/// tile, to the next power of two, at least 32. May be more than there are tiles.
std::uint64_t DocumentedIoTiles(const Target& target, std::uint64_t io_bytes);

}  // namespace poprt::ipu
