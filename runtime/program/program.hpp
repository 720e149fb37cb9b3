#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/shape.hpp"

/// The compiled form of a model: what a device executes. Device-neutral in its structure (a Switch
/// over branches, each a list of steps between stream copies, repeated for every batch); kernels,
/// weight layouts and offsets are those chosen for the model device.
namespace poprt::program {

/// Index of a slot in its branch.
using SlotIndex = std::uint32_t;
/// Stands for an absent optional operand.
inline constexpr SlotIndex kNoSlot = 0xFFFFFFFF;

/// Alignment of every slot, in bytes.
inline constexpr std::uint64_t kSlotAlignment = 64;

/// Where the bytes of a slot are: in the device's writable arena, or in the read-only weights that
/// follow the program in the container.
enum class Space : std::uint8_t { kArena = 0, kWeights = 1 };

/// A place in memory and the type of the tensor in it. Several slots may share bytes: tensors that
/// are not live at the same time, or views of one tensor.
struct Slot {
  TensorType type;
  Space space = Space::kArena;
  std::uint64_t offset = 0;  ///< bytes, a multiple of kSlotAlignment
};

/// One kernel call.
struct Step {
  std::string name;  ///< of the node it computes
  std::string kernel;
  std::vector<SlotIndex> inputs;
  std::vector<SlotIndex> outputs;  ///< in the arena
  Attributes attributes;           ///< without tensors
};

/// A tensor that enters or leaves the device, under the name users know.
struct Stream {
  std::string name;
  SlotIndex slot = kNoSlot;
};

/// What runs for one value of `index`: copies inputs into their slots, runs the steps in order,
/// copies outputs out.
struct Branch {
  std::string name;
  std::vector<Slot> slots;
  std::vector<Stream> inputs;
  std::vector<Stream> outputs;
  std::vector<Step> steps;
  std::uint64_t arena_bytes = 0;
};

/// A Switch over branches. One branch and no `index` input for a model that is not fused.
struct Program {
  std::vector<Branch> branches;
  std::uint32_t batches_per_step = 1;
  std::string ipu_version;
  std::uint32_t tiles = 0;     ///< of the target
  std::uint32_t io_tiles = 0;  ///< the first io_tiles tiles hold host buffers, the rest compute

  /// Bytes of arena that serve every branch: the largest, since one runs at a time.
  std::uint64_t ArenaBytes() const;
};

/// The first reason why the program must not run, or nothing: slots outside their space or not
/// aligned, operands that do not exist, steps that write weights or what they read, duplicate
/// names. Kernels check types and attributes themselves when they are bound.
std::string FindProblem(const Program& program, std::uint64_t weight_bytes);

}  // namespace poprt::program
