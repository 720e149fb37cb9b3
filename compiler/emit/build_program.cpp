#include "compiler/emit/build_program.hpp"

#include <map>
#include <utility>
#include <vector>

namespace poprt::emit {
namespace {

using lower::BufferId;
using lower::Schedule;
using program::Branch;
using program::SlotIndex;

/// Numbers slots in the order of first use.
class BranchBuilder {
 public:
  BranchBuilder(const Schedule& schedule, const host::ArenaPlan& arena,
                const std::vector<std::uint64_t>& weight_offsets,
                const std::map<BufferId, std::uint64_t>& variable_offsets)
      : schedule_(schedule),
        arena_(arena),
        weight_offsets_(weight_offsets),
        variable_offsets_(variable_offsets),
        slots_(schedule.buffers.size(), program::kNoSlot) {
    branch_.name = schedule.name;
    branch_.arena_bytes = arena.bytes;
  }

  Branch Build() && {
    for (const lower::Stream& input : schedule_.inputs) {
      branch_.inputs.push_back({input.name, SlotOf(input.buffer)});
    }
    branch_.steps = Steps(schedule_.steps);
    for (const lower::Stream& output : schedule_.outputs) {
      program::Stream stream{.name = output.name, .slot = SlotOf(output.buffer)};
      if (output.extent) stream.extent = {output.extent->axis, SlotOf(output.extent->buffer)};
      branch_.outputs.push_back(std::move(stream));
    }
    return std::move(branch_);
  }

 private:
  std::vector<program::Step> Steps(const std::vector<lower::Step>& steps) {
    std::vector<program::Step> result;
    for (const lower::Step& step : steps) {
      program::Step& written = result.emplace_back(program::Step{.name = step.name,
                                                                 .kernel = step.kernel,
                                                                 .inputs = SlotsOf(step.inputs),
                                                                 .outputs = SlotsOf(step.outputs),
                                                                 .attributes = step.attributes,
                                                                 .stage = step.stage});
      for (const lower::Body& body : step.bodies) {
        written.bodies.push_back({.inputs = SlotsOf(body.inputs),
                                  .outputs = SlotsOf(body.outputs),
                                  .steps = Steps(body.steps)});
      }
    }
    return result;
  }

  SlotIndex SlotOf(BufferId id) {
    if (id == lower::kNoBuffer) return program::kNoSlot;
    SlotIndex& slot = slots_[id];
    if (slot != program::kNoSlot) return slot;
    slot = static_cast<SlotIndex>(branch_.slots.size());
    branch_.slots.push_back(MakeSlot(id));
    return slot;
  }

  program::Slot MakeSlot(BufferId id) const {
    const TensorType& type = schedule_.buffers[id].type;
    const lower::Buffer& storage = schedule_.buffers[schedule_.Storage(id)];
    if (storage.constant) return {type, program::Space::kWeights, weight_offsets_[id]};
    if (!storage.is_variable) return {type, program::Space::kArena, arena_.offsets[id]};
    const std::uint64_t offset = variable_offsets_.at(schedule_.Storage(id));
    return {type, program::Space::kVariables, offset + schedule_.buffers[id].view_offset};
  }

  std::vector<SlotIndex> SlotsOf(const std::vector<BufferId>& ids) {
    std::vector<SlotIndex> result;
    result.reserve(ids.size());
    for (BufferId id : ids) result.push_back(SlotOf(id));
    return result;
  }

  const Schedule& schedule_;
  const host::ArenaPlan& arena_;
  const std::vector<std::uint64_t>& weight_offsets_;
  const std::map<BufferId, std::uint64_t>& variable_offsets_;
  std::vector<SlotIndex> slots_;
  Branch branch_;
};

/// Appends the variables of a schedule to those of the program. Gives their offsets.
std::map<BufferId, std::uint64_t> AddVariables(const Schedule& schedule,
                                               std::vector<program::Variable>& variables,
                                               std::uint64_t& end) {
  std::map<BufferId, std::uint64_t> offsets;
  for (const lower::Variable& variable : schedule.variables) {
    const TensorType& type = schedule.buffers[variable.buffer].type;
    offsets[variable.buffer] = end;
    variables.push_back({.name = variable.name, .type = type, .offset = end});
    constexpr std::uint64_t alignment = program::kSlotAlignment;
    end += (type.bytes() + alignment - 1) / alignment * alignment;
  }
  return offsets;
}

}  // namespace

program::Program BuildProgram(std::span<const Schedule> schedules,
                              std::span<const host::ArenaPlan> arenas,
                              const host::WeightsPlan& weights, const ipu::Target& target,
                              const ipu::TilePartition& partition, std::uint32_t batches_per_step) {
  program::Program program{.branches = {},
                           .batches_per_step = batches_per_step,
                           .ipu_version = target.ipu_version,
                           .tiles = target.tiles,
                           .io_tiles = partition.io_tiles};
  std::uint64_t variables_end = 0;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    const auto variables = AddVariables(schedules[i], program.variables, variables_end);
    program.branches.push_back(
        BranchBuilder(schedules[i], arenas[i], weights.offsets[i], variables).Build());
  }
  return program;
}

}  // namespace poprt::emit
