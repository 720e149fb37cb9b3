#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "poprt/runtime/pack_runner_config.hpp"

namespace poprt::runtime {

/// The room of a pack and the rules for filling it. Lengths are in tokens.
struct PackRoom {
  std::uint64_t rows = 1;
  std::uint64_t row_length = 0;
  std::uint64_t delimiter = 0;  ///< tokens left free between entries of a row
  std::uint64_t most_entries = 0;
  PackAlgorithm algorithm = PackAlgorithm::NextFit;
};

/// Where an entry lies.
struct Placement {
  std::uint64_t row = 0;
  std::uint64_t offset = 0;  ///< in the row
  std::uint64_t length = 0;

  friend bool operator==(const Placement&, const Placement&) = default;
};

/// Distributes entries over the rows of one pack, one after the other, each within a row. An entry
/// begins at the start of its row or `delimiter` tokens after the entry before it.
///
/// FirstFit takes the first row with room. NextFit takes the row of the previous entry, or the next
/// row; it never goes back.
class PackPlan {
 public:
  explicit PackPlan(const PackRoom& room);

  /// Places the next entry, which must not be empty; false, and nothing changes, if there is no
  /// room for it.
  bool Add(std::uint64_t length);
  /// There is no room for any entry: the pack has the most entries, or not one token is free.
  bool Full() const { return !Find(1); }
  /// In the order of Add.
  std::span<const Placement> placements() const { return placements_; }
  /// The entries' numbers in the order in which they lie: by row, then by offset.
  std::vector<std::size_t> Order() const;
  /// Empties the pack.
  void Clear();

 private:
  /// Where an entry of that length would lie.
  std::optional<Placement> Find(std::uint64_t length) const;

  PackRoom room_;
  std::vector<Placement> placements_;
  std::vector<std::uint64_t> ends_;  ///< of the last entry of every row, 0 for none
};

}  // namespace poprt::runtime
