#include "runtime/program/program.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string_view>

#include "runtime/program/control_flow.hpp"

namespace poprt::program {
namespace {

/// Keeps the comparison of every output with every operand short.
constexpr std::size_t kMostOperands = 4096;

/// More than any machine can map; keeps sums of sizes far from the end of the number.
constexpr std::uint64_t kMostArenaBytes = std::uint64_t{1} << 48;

std::string InBranch(const Branch& branch, const std::string& problem) {
  return "branch '" + branch.name + "': " + problem;
}

/// Of a tensor that may be anything; nothing if there is no such tensor.
std::optional<std::uint64_t> CheckedBytes(const TensorType& type) {
  const auto count = CheckedElementCount(type.shape);
  std::int64_t bytes = 0;
  if (!type.defined() || !count.has_value() ||
      __builtin_mul_overflow(*count, static_cast<std::int64_t>(ElementSize(type.element)),
                             &bytes)) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(bytes);
}

std::string Misaligned(const std::string& what, std::uint64_t offset) {
  return what + " is at offset " + std::to_string(offset) + ", not a multiple of " +
         std::to_string(kSlotAlignment);
}

std::string FindVariableProblem(const std::vector<Variable>& variables) {
  std::set<std::string_view> names;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const Variable& variable = variables[i];
    const std::string what = "variable " + std::to_string(i) + " '" + variable.name + "'";
    if (variable.name.empty() || !names.insert(variable.name).second) {
      return what + ": the name is empty or taken";
    }
    const auto bytes = CheckedBytes(variable.type);
    if (!bytes.has_value()) return what + " has no valid type";
    if (variable.offset % kSlotAlignment != 0) return Misaligned(what, variable.offset);
    if (variable.offset < end) {
      return what + " is at offset " + std::to_string(variable.offset) +
             ", before the end of the variable before it at " + std::to_string(end);
    }
    if (*bytes > std::numeric_limits<std::uint64_t>::max() - variable.offset) {
      return what + " ends beyond any memory";
    }
    end = variable.offset + *bytes;
  }
  return "";
}

/// A slot in the variables is one of them or a part of one.
bool InsideVariable(const std::vector<Variable>& variables, std::uint64_t offset,
                    std::uint64_t bytes) {
  const auto after = std::upper_bound(
      variables.begin(), variables.end(), offset,
      [](std::uint64_t value, const Variable& variable) { return value < variable.offset; });
  if (after == variables.begin()) return false;
  const Variable& variable = *(after - 1);
  const std::uint64_t size = variable.type.bytes();
  const std::uint64_t start = offset - variable.offset;
  return start <= size && bytes <= size - start;
}

std::string FindSlotProblem(const Branch& branch, std::uint64_t weight_bytes,
                            const std::vector<Variable>& variables) {
  for (std::size_t i = 0; i < branch.slots.size(); ++i) {
    const Slot& slot = branch.slots[i];
    const auto what = [i] { return "slot " + std::to_string(i); };
    const auto bytes = CheckedBytes(slot.type);
    if (!bytes.has_value()) return what() + " has no valid type";
    if (slot.offset % kSlotAlignment != 0) return Misaligned(what(), slot.offset);
    const auto extent = [&] {
      return what() + " spans " + std::to_string(*bytes) + " bytes from offset " +
             std::to_string(slot.offset);
    };
    if (slot.space == Space::kVariables) {
      if (!InsideVariable(variables, slot.offset, *bytes)) {
        return extent() + ", not in one variable";
      }
      continue;
    }
    const std::uint64_t space = slot.space == Space::kArena ? branch.arena_bytes : weight_bytes;
    if (slot.offset > space || *bytes > space - slot.offset) {
      return extent() + ", beyond the " + std::to_string(space) + " bytes of the " +
             std::string(SpaceName(slot.space));
    }
  }
  return "";
}

bool IsSamePlace(const Slot& a, const Slot& b) {
  return a.space == b.space && a.offset == b.offset && a.type.bytes() == b.type.bytes();
}

std::string FindStepProblem(const Branch& branch, const Step& step) {
  const auto what = [&] { return "step '" + step.name + "'"; };
  if (step.inputs.size() + step.outputs.size() > kMostOperands) {
    return what() + " has " + std::to_string(step.inputs.size() + step.outputs.size()) +
           " operands, allowed are " + std::to_string(kMostOperands);
  }
  for (const auto* operands : {&step.inputs, &step.outputs}) {
    for (SlotIndex i : *operands) {
      if (i != kNoSlot && i >= branch.slots.size()) {
        return what() + " uses slot " + std::to_string(i) + " of " +
               std::to_string(branch.slots.size());
      }
    }
  }
  for (std::size_t o = 0; o < step.outputs.size(); ++o) {
    if (step.outputs[o] == kNoSlot) continue;
    const Slot& output = branch.slots[step.outputs[o]];
    if (output.space != Space::kArena) {
      return what() + " writes to the " + std::string(SpaceName(output.space));
    }
    const auto overlaps = [&](SlotIndex i) {
      return i != kNoSlot && Overlap(branch.slots[i], output);
    };
    // Whether the kernel can compute in place is known once it is bound.
    const bool may_be_in_place = o == 0 && step.bodies.empty();
    const auto is_overwritten = [&](SlotIndex i) {
      return overlaps(i) && !(may_be_in_place && IsSamePlace(branch.slots[i], output));
    };
    if (std::any_of(step.inputs.begin(), step.inputs.end(), is_overwritten) ||
        std::any_of(step.outputs.begin(), step.outputs.begin() + static_cast<std::ptrdiff_t>(o),
                    overlaps)) {
      return what() + " writes to memory of another of its operands";
    }
  }
  const std::string problem = FindBodyProblem(branch, step);
  return problem.empty() ? "" : what() + " " + problem;
}

/// Steps inside steps are no less suspicious than others.
std::string FindProblemOfSteps(const Branch& branch, const std::vector<Step>& steps, int nesting) {
  if (nesting > kMostNesting) {
    return "steps stand inside steps more than " + std::to_string(kMostNesting) + " deep";
  }
  for (const Step& step : steps) {
    std::string problem = FindStepProblem(branch, step);
    if (problem.empty() && nesting > 0 && step.stage != 0) {
      problem = "step '" + step.name + "' inside another has a stage of its own";
    }
    for (const Body& body : step.bodies) {
      if (problem.empty()) problem = FindProblemOfSteps(branch, body.steps, nesting + 1);
    }
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string FindStageProblem(const Branch& branch) {
  std::uint32_t last = 0;
  for (const Step& step : branch.steps) {
    const bool is_first = &step == branch.steps.data();
    if (step.stage != last && (is_first || step.stage != last + 1)) {
      return "step '" + step.name + "' is in stage " + std::to_string(step.stage) +
             (is_first ? ", the first step is in stage 0"
                       : ", behind one in stage " + std::to_string(last));
    }
    last = step.stage;
  }
  if (last < kMostStages) return "";
  return "there are " + std::to_string(last + 1) + " stages, allowed are " +
         std::to_string(kMostStages);
}

std::string FindExtentProblem(const Branch& branch, const Stream& stream) {
  const std::string what = "the extent of stream '" + stream.name + "' ";
  const Shape& shape = branch.slots[stream.slot].type.shape;
  if (stream.extent->axis >= shape.size()) {
    return what + "is of axis " + std::to_string(stream.extent->axis) + " of a tensor of rank " +
           std::to_string(shape.size());
  }
  if (stream.extent->slot >= branch.slots.size()) {
    return what + "uses slot " + std::to_string(stream.extent->slot) + " of " +
           std::to_string(branch.slots.size());
  }
  const TensorType& type = branch.slots[stream.extent->slot].type;
  if (!type.shape.empty() ||
      (type.element != ElementType::kInt64 && type.element != ElementType::kInt32)) {
    return what + "is " + ToString(type) + ", not a scalar of int32 or int64";
  }
  return "";
}

std::string FindStreamProblem(const Branch& branch) {
  std::set<std::string_view> names;
  for (const auto* streams : {&branch.inputs, &branch.outputs}) {
    for (const Stream& stream : *streams) {
      if (stream.name.empty() || !names.insert(stream.name).second) {
        return "stream name '" + stream.name + "' is empty or taken";
      }
      if (stream.slot >= branch.slots.size()) {
        return "stream '" + stream.name + "' uses slot " + std::to_string(stream.slot) + " of " +
               std::to_string(branch.slots.size());
      }
      if (!stream.extent) continue;
      std::string problem = FindExtentProblem(branch, stream);
      if (!problem.empty()) return problem;
    }
  }
  for (const Stream& stream : branch.inputs) {
    if (stream.extent) return "input '" + stream.name + "' has an extent that depends on data";
    if (branch.slots[stream.slot].space != Space::kArena) {
      return "input '" + stream.name + "' would be written to the " +
             std::string(SpaceName(branch.slots[stream.slot].space));
    }
  }
  return "";
}

}  // namespace

std::string_view SpaceName(Space space) {
  switch (space) {
    case Space::kArena:
      return "arena";
    case Space::kWeights:
      return "weights";
    case Space::kVariables:
      break;
  }
  return "variables";
}

std::uint32_t Program::NumStages() const {
  std::uint32_t stages = 1;
  for (const Branch& branch : branches) stages = std::max(stages, branch.NumStages());
  return stages;
}

std::uint64_t Program::ArenaBytes() const {
  std::uint64_t bytes = 0;
  for (const Branch& branch : branches) bytes = std::max(bytes, branch.arena_bytes);
  return bytes;
}

std::uint64_t Program::VariableBytes() const {
  return variables.empty() ? 0 : variables.back().offset + variables.back().type.bytes();
}

std::string FindProblem(const Program& program, std::uint64_t weight_bytes) {
  if (program.branches.empty()) return "the program has no branch";
  if (program.batches_per_step == 0) return "the program repeats zero batches a step";
  if (program.io_tiles > program.tiles) return "the program has more I/O tiles than tiles";
  std::string variable_problem = FindVariableProblem(program.variables);
  if (!variable_problem.empty()) return variable_problem;
  std::set<std::string_view> names;
  for (const Branch& branch : program.branches) {
    if (!names.insert(branch.name).second) return InBranch(branch, "the name occurs twice");
    if (branch.outputs.empty()) return InBranch(branch, "there is no output");
    if (branch.arena_bytes > kMostArenaBytes) {
      return InBranch(branch, "an arena of " + std::to_string(branch.arena_bytes) +
                                  " bytes is none that a machine has");
    }
    std::string problem = FindSlotProblem(branch, weight_bytes, program.variables);
    if (problem.empty()) problem = FindStreamProblem(branch);
    if (problem.empty()) problem = FindStageProblem(branch);
    if (problem.empty()) problem = FindProblemOfSteps(branch, branch.steps, 0);
    if (!problem.empty()) return InBranch(branch, problem);
  }
  return "";
}

}  // namespace poprt::program
