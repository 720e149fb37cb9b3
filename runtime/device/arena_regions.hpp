#pragma once

#include <cstdint>
#include <vector>

#include "runtime/program/program.hpp"

namespace poprt::device {

/// Bytes of the arena that have to stay together, for as long as they hold what they hold.
struct ArenaRegion {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool is_pinned = false;        ///< steps with bodies (If, Loop) use it
  bool is_computed = false;      ///< steps write to it
  std::uint32_t num_inputs = 0;  ///< streams that are part of it
  std::uint32_t num_outputs = 0;
  bool has_extent = false;  ///< the true extent of an output is part of it
};

/// Index of a region; kNoRegion for operands that are absent, empty or not in the arena.
using RegionIndex = std::uint32_t;
inline constexpr RegionIndex kNoRegion = 0xFFFFFFFF;

/// Which operands of a branch are in the end its streams.
struct ArenaRegions {
  /// Some have become part of others, and nothing refers to them any more.
  std::vector<ArenaRegion> regions;
  /// Of each step its inputs, then its outputs; nothing for steps with bodies.
  std::vector<std::vector<RegionIndex>> operands;
  std::vector<RegionIndex> inputs;  ///< of the streams
  std::vector<RegionIndex> outputs;
  std::vector<RegionIndex> extents;  ///< of the outputs' true extents
};

/// Follows what every byte of the arena of a checked branch holds from step to step: slots share
/// bytes, as views or one after the other.
ArenaRegions FindArenaRegions(const program::Branch& branch);

}  // namespace poprt::device
