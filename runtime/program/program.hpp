#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

/// Where the bytes of a slot are: in the device's writable arena, in the read-only weights that
/// follow the program in the container, or in the device's memory for variables, which steps read
/// and only the load program writes.
enum class Space : std::uint8_t { kArena = 0, kWeights = 1, kVariables = 2 };

/// "arena", "weights", "variables".
std::string_view SpaceName(Space space);

/// A place in memory and the type of the tensor in it. Several slots may share bytes: tensors that
/// are not live at the same time, or views of one tensor.
struct Slot {
  TensorType type;
  Space space = Space::kArena;
  std::uint64_t offset = 0;  ///< bytes, a multiple of kSlotAlignment
};

struct Step;

/// Steps inside a step. They use the slots of the branch as all steps do, so what they read of
/// their surroundings needs no mention here. Where a result has the very slot that it is copied to,
/// nothing is copied.
///
///     kIf    inputs: cond. Runs the first of its two bodies if cond is true, otherwise the second,
///            and copies the body's outputs to those of the step. Bodies have no inputs.
///     kLoop  inputs: trip count or none, cond or none, initial values of what it carries. Outputs:
///            carried values, stacked slices. One body; inputs: iteration and cond, outputs: cond,
///            carried values, slices. Copies the initial values to the step's outputs, where the
///            body reads them; while cond holds and iterations are left, of which there are no
///            more than stacked outputs have room for, runs the body, copies its slices to the next
///            places in the stacked outputs, then its carried values to the step's outputs.
///
/// Conditions are scalars of bool; trip count and iteration are scalars of int64. Stacking is along
/// a new first axis.
struct Body {
  std::vector<SlotIndex> inputs;
  std::vector<SlotIndex> outputs;
  std::vector<Step> steps;
};

/// One kernel call, or a choice or repetition of steps: see Body.
struct Step {
  std::string name;  ///< of the node it computes
  std::string kernel;
  std::vector<SlotIndex> inputs;
  std::vector<SlotIndex> outputs;  ///< in the arena
  Attributes attributes;           ///< without tensors
  std::vector<Body> bodies = {};   ///< of kIf and kLoop only
  /// Of the pipeline. Steps inside steps have 0 and run with the step around them.
  std::uint32_t stage = 0;
};

/// Kernel names of steps with bodies.
inline constexpr std::string_view kIf = "If";
inline constexpr std::string_view kLoop = "Loop";
/// Inputs of kLoop before those that it carries, and inputs of its body.
inline constexpr std::size_t kLoopControls = 2;
/// As many as a pipeline may have.
inline constexpr std::uint32_t kMostStages = 64;
/// How deep steps may stand inside steps.
inline constexpr int kMostNesting = 32;

/// Where the true extent of an output stands whose extent along one axis depends on data.
struct StreamExtent {
  std::uint32_t axis = 0;
  SlotIndex slot = kNoSlot;  ///< int32 or int64 scalar, written by the time the steps have run
};

/// A tensor that enters or leaves the device, under the name users know.
struct Stream {
  std::string name;
  SlotIndex slot = kNoSlot;
  /// Of outputs only. The slot's type then gives the bound; only what lies within the true extent,
  /// clamped to the bound, leaves the device, densely packed.
  std::optional<StreamExtent> extent = {};
};

/// What runs for one value of `index`: copies inputs into their slots, runs the steps in order,
/// copies outputs out. Stages of the steps ascend from 0 without gaps: each may work for another
/// batch at the same time.
struct Branch {
  std::string name;
  std::vector<Slot> slots;
  std::vector<Stream> inputs;
  std::vector<Stream> outputs;
  std::vector<Step> steps;
  std::uint64_t arena_bytes = 0;

  /// At least 1.
  std::uint32_t NumStages() const { return steps.empty() ? 1 : steps.back().stage + 1; }
};

/// A tensor that stays on the device from run to run: the load program fills it from the host, the
/// save program copies it back.
struct Variable {
  std::string name;  ///< of the anchors that stand for it in the metadata
  TensorType type;
  std::uint64_t offset = 0;  ///< bytes in Space::kVariables, a multiple of kSlotAlignment
};

/// A Switch over branches. One branch and no `index` input for a model that is not fused.
struct Program {
  std::vector<Branch> branches;
  std::uint32_t batches_per_step = 1;
  std::string ipu_version;
  std::uint32_t tiles = 0;     ///< of the target
  std::uint32_t io_tiles = 0;  ///< the first io_tiles tiles hold host buffers, the rest compute
  std::vector<Variable> variables = {};  ///< of all branches, in the order of their offsets

  /// Of the branch that has most: 1 if there is no pipeline.
  std::uint32_t NumStages() const;
  /// Bytes of arena that serve every branch: the largest, since one runs at a time.
  std::uint64_t ArenaBytes() const;
  /// Bytes of Space::kVariables: to the end of the last.
  std::uint64_t VariableBytes() const;
};

/// The first reason why the program must not run, or nothing: slots outside their space or not
/// aligned, variables that overlap, operands that do not exist, steps that write weights, variables
/// or what they read, stages out of order, duplicate names. Kernels check types and attributes
/// themselves when they are bound.
std::string FindProblem(const Program& program, std::uint64_t weight_bytes);

}  // namespace poprt::program
