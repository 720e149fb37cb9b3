#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "compiler/lower/schedule.hpp"

namespace poprt::host {

/// When a buffer is in use: both ends are included. Empty (last < first) if nothing uses it.
struct Lifetime {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = -1;

  void Touch(std::int64_t step) {
    first = std::min(first, step);
    last = std::max(last, step);
  }
};

/// For every buffer; views count for their storage and have empty lifetimes of their own. 0 is when
/// inputs are copied in. From then on steps are numbered, those inside steps among them, in the
/// order in which they would run once; the last number is when outputs are copied out. A loop needs
/// what it reads of its surroundings in every iteration, so to its end.
std::vector<Lifetime> LifetimesOf(const lower::Schedule& schedule);

/// Bytes that a buffer takes in the arena: a multiple of program::kSlotAlignment.
std::uint64_t ArenaBytesOf(const lower::Buffer& buffer);

/// The most bytes of the arena that are in use at one time; no plan needs less.
std::uint64_t LargestLiveSet(const lower::Schedule& schedule);

}  // namespace poprt::host
