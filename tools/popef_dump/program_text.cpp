#include "tools/popef_dump/program_text.hpp"

#include <fmt/format.h>

#include <string_view>
#include <type_traits>

#include "tools/display/escape.hpp"

namespace poprt::dump {
namespace {

using display::Escape;
using display::Quote;
using program::Branch;
using program::kNoSlot;
using program::Slot;
using program::SlotIndex;
using program::Space;
using program::Step;
using program::Stream;

template <typename Items, typename Print>
std::string Join(const Items& items, const Print& print) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + print(item);
  return text;
}

std::string Place(const Slot& slot) {
  return fmt::format("{} @{} {:#x}", ToString(slot.type), program::SpaceName(slot.space),
                     slot.offset);
}

std::string Operand(const Branch& branch, SlotIndex index) {
  if (index == kNoSlot) return "_";
  const Slot& slot = branch.slots[index];
  if (slot.space == Space::kArena) return fmt::format("%{}", index);
  return fmt::format("{}@{:#x} {}", slot.space == Space::kWeights ? 'w' : 'v', slot.offset,
                     ToString(slot.type));
}

std::string ScalarText(std::int64_t value) { return std::to_string(value); }
// The point tells a float from an integer.
std::string ScalarText(float value) { return fmt::format("{:#}", value); }
std::string ScalarText(const std::string& value) { return Quote(value); }

std::string ValueText(const AttributeValue& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return Quote(held);
        } else if constexpr (std::is_same_v<T, Tensor>) {
          return ToString(held.type());
        } else if constexpr (std::is_arithmetic_v<T>) {
          return ScalarText(held);
        } else {
          return "[" + Join(held, [](const auto& item) { return ScalarText(item); }) + "]";
        }
      },
      value);
}

std::string AttributesText(const Attributes& attributes) {
  if (attributes.entries().empty()) return "";
  return " {" +
         Join(attributes.entries(),
              [](const Attributes::Entry& entry) {
                return Escape(entry.first) + "=" + ValueText(entry.second);
              }) +
         "}";
}

std::string StepText(const Branch& branch, const Step& step) {
  const auto operand = [&](SlotIndex index) { return Operand(branch, index); };
  const auto place = [&](SlotIndex index) {
    return index == kNoSlot ? std::string("_") : Place(branch.slots[index]);
  };
  std::string text = step.outputs.empty() ? "" : Join(step.outputs, operand) + " = ";
  text += Escape(step.kernel) + "(" + Join(step.inputs, operand) + ")";
  text += AttributesText(step.attributes);
  if (!step.outputs.empty()) text += " : " + Join(step.outputs, place);
  if (!step.name.empty()) text += "  # " + Escape(step.name);
  return text;
}

/// One line a step; what stands inside a step follows it, indented. Stages of a pipeline begin with
/// a line of their own.
std::string StepsText(const Branch& branch, const std::vector<Step>& steps,
                      const std::string& indent) {
  const auto operand = [&](SlotIndex index) { return Operand(branch, index); };
  const bool is_pipeline = !steps.empty() && steps.back().stage > 0;
  const Step* before = nullptr;
  std::string text;
  for (const Step& step : steps) {
    if (is_pipeline && (before == nullptr || before->stage != step.stage)) {
      text += fmt::format("{}stage {}:\n", indent, step.stage);
    }
    before = &step;
    text += indent + StepText(branch, step) + "\n";
    for (const program::Body& body : step.bodies) {
      text += fmt::format("{}  body({}):\n", indent, Join(body.inputs, operand));
      text += StepsText(branch, body.steps, indent + "    ");
      text += fmt::format("{}    yield {}\n", indent, Join(body.outputs, operand));
    }
  }
  return text;
}

}  // namespace

std::string BranchText(const Branch& branch, const std::string& indent) {
  std::string text;
  for (const Stream& input : branch.inputs) {
    text += fmt::format("{}%{} = input {} : {}\n", indent, input.slot, Quote(input.name),
                        Place(branch.slots[input.slot]));
  }
  text += StepsText(branch, branch.steps, indent);
  for (const Stream& output : branch.outputs) {
    text +=
        fmt::format("{}output {} = {}", indent, Quote(output.name), Operand(branch, output.slot));
    if (output.extent) {
      text += fmt::format(", axis {} up to {}", output.extent->axis,
                          Operand(branch, output.extent->slot));
    }
    text += "\n";
  }
  return text;
}

}  // namespace poprt::dump
