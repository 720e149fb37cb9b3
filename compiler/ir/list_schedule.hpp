#pragma once

#include <cstdint>
#include <vector>

namespace poprt::ir {

/// Computations that are to be put in an order which needs little memory. Items and storages are
/// known by their index.
struct ListScheduleProblem {
  // For every item:
  std::vector<std::vector<std::uint32_t>> sources;   ///< items that come before it, each once
  std::vector<std::vector<std::uint32_t>> storages;  ///< memory it reads or writes, each once
  std::vector<std::uint32_t> stages;  ///< items of a lower one come first; empty: one stage
  // For every storage:
  std::vector<std::int64_t> bytes;
  std::vector<bool> is_live;             ///< in use before the first item
  std::vector<std::size_t> other_users;  ///< that keep it beyond the last item
};

/// All items, in the order of a list scheduler: it always takes the item that is ready and leaves
/// the least memory in use, of those that are equal the one with the lowest index. A storage is in
/// use from the first item that names it to the last. Sources must not form cycles nor lie in
/// higher stages. O(n log n) in items and the storages they name.
std::vector<std::uint32_t> ListSchedule(const ListScheduleProblem& problem);

}  // namespace poprt::ir
