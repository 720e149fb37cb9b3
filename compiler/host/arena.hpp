#pragma once

#include <cstdint>
#include <vector>

#include "compiler/lower/schedule.hpp"

namespace poprt::host {

/// Offsets of a schedule's activations in the arena.
struct ArenaPlan {
  /// For every buffer; zero for constants, variables and empty tensors. Views are where they are in
  /// their storage.
  std::vector<std::uint64_t> offsets;
  std::uint64_t bytes = 0;
};

/// Gives buffers that live at the same time (LifetimesOf) different memory and lets others share.
///
/// Tries several placements and keeps the smallest: best fit in the order of time, as an allocator
/// would see it, in O(n log n); and where that is larger than the largest live set, greedy by size
/// and by size times duration, each at the lowest and at the tightest free place (Pisarchyk and
/// Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020), for which pairs of
/// buffers that live at the same time are listed. Graphs with too many of those pairs get the
/// first alone.
ArenaPlan PlanArena(const lower::Schedule& schedule);

}  // namespace poprt::host
