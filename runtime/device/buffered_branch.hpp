#pragma once

#include <cstdint>
#include <vector>

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

/// Finds out which operands of a checked branch are in the end its streams, by following what every
/// byte of the arena holds from step to step: slots share bytes, as views or one after the other.
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

  /// Bytes that move together.
  struct Region {
    std::uint64_t begin = 0;  ///< in the arena of the branch
    std::uint64_t end = 0;
    bool is_pinned = false;  ///< stays in the arena
    bool has_input = false;
    bool has_output = false;
    std::uint64_t offset = 0;  ///< in the buffer

    Home home() const;
  };
  using RegionIndex = std::uint32_t;
  static constexpr RegionIndex kNoRegion = 0xFFFFFFFF;

  /// A stream of which the buffer holds a copy.
  struct Staged {
    std::size_t stream = 0;
    std::uint64_t offset = 0;  ///< in the buffer
  };

  friend class ArenaContents;
  class Placement;

  void Assign();

  const program::Branch& branch_;
  std::vector<Region> regions_;
  /// What operands are part of: of each step its inputs, then its outputs; none for steps with
  /// bodies and for operands that are not in the arena.
  std::vector<std::vector<RegionIndex>> operands_;
  std::vector<RegionIndex> inputs_;  ///< of the streams
  std::vector<RegionIndex> outputs_;
  std::vector<RegionIndex> extents_;  ///< of the outputs' true extents
  std::vector<Staged> staged_inputs_;
  std::vector<Staged> staged_outputs_;
  std::uint64_t input_bytes_ = 0;
  std::uint64_t output_bytes_ = 0;
};

}  // namespace poprt::device
