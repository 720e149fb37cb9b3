#pragma once

#include <cstdint>
#include <vector>

#include "runtime/device/arena_regions.hpp"
#include "runtime/program/program.hpp"

namespace poprt::device {

/// A copy between slots of the same size that do not overlap.
struct SlotCopy {
  program::SlotIndex to = program::kNoSlot;
  program::SlotIndex from = program::kNoSlot;
};

/// A branch whose streams lie in buffers, so that they can be loaded and stored while the arena
/// works for other batches.
struct BufferedBranch {
  /// The branch with more slots; its streams and the operands of its steps are in buffers where
  /// they have to be. Steps have the order and the bodies of the branch it was made of.
  program::Branch branch;
  std::vector<SlotCopy> before;  ///< of streams that steps need in the arena: before the steps
  std::vector<SlotCopy> after;   ///< of results that arise elsewhere: after the steps
};

/// Puts the operands of a checked branch that are in the end its streams into buffers.
///
/// A tensor that a step reads from an input, or that becomes an output, is moved to a buffer; there
/// is no other cost. Streams that steps with bodies (If, Loop) use stay in the arena and are copied
/// to or from their buffer, and so are outputs that are inputs, constants excepted.
class StreamBuffers {
 public:
  /// `branch` must outlive this object.
  explicit StreamBuffers(const program::Branch& branch);

  /// Of one buffer for the inputs, and one for the outputs: multiples of kSlotAlignment.
  std::uint64_t input_bytes() const { return input_bytes_; }
  std::uint64_t output_bytes() const { return output_bytes_; }

  /// The branch with its buffers at these offsets of the arena, which must lie behind
  /// Branch::arena_bytes. The caller has an arena of that size.
  BufferedBranch Place(std::uint64_t inputs_at, std::uint64_t outputs_at) const;

 private:
  enum class Home : std::uint8_t { kArena, kInputs, kOutputs };

  /// A stream of which the buffer holds a copy.
  struct Staged {
    std::size_t stream = 0;
    std::uint64_t offset = 0;  ///< in the buffer
  };

  class Placement;
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

  Home HomeOf(RegionIndex index) const;

  const program::Branch& branch_;
  ArenaRegions found_;
  std::vector<std::uint64_t> offsets_;  ///< of regions, in the buffer
  std::vector<Staged> staged_inputs_;
  std::vector<Staged> staged_outputs_;
  std::uint64_t input_bytes_ = 0;
  std::uint64_t output_bytes_ = 0;
};

}  // namespace poprt::device
