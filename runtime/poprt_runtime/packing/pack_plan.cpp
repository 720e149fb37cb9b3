#include "runtime/poprt_runtime/packing/pack_plan.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace poprt::runtime {

PackPlan::PackPlan(const PackRoom& room) : room_(room), ends_(room.rows, 0) {}

std::optional<Placement> PackPlan::Find(std::uint64_t length) const {
  if (placements_.size() >= room_.most_entries) return std::nullopt;
  const bool from_first = room_.algorithm == PackAlgorithm::FirstFit || placements_.empty();
  for (std::uint64_t row = from_first ? 0 : placements_.back().row; row < room_.rows; ++row) {
    const std::uint64_t offset = ends_[row] == 0 ? 0 : ends_[row] + room_.delimiter;
    if (offset > room_.row_length || length > room_.row_length - offset) continue;
    return Placement{row, offset, length};
  }
  return std::nullopt;
}

bool PackPlan::Add(std::uint64_t length) {
  const std::optional<Placement> place = Find(length);
  if (!place) return false;
  placements_.push_back(*place);
  ends_[place->row] = place->offset + length;
  return true;
}

std::vector<std::size_t> PackPlan::Order() const {
  std::vector<std::size_t> order(placements_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(placements_[a].row, placements_[a].offset) <
           std::tie(placements_[b].row, placements_[b].offset);
  });
  return order;
}

void PackPlan::Clear() {
  placements_.clear();
  std::fill(ends_.begin(), ends_.end(), 0);
}

}  // namespace poprt::runtime
