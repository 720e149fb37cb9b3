#include "tools/popef_bench/operand_text.hpp"

#include <vector>

namespace poprt::bench {
namespace {

std::string TypeText(const TensorType& type) {
  std::string text;
  for (const std::int64_t extent : type.shape) {
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  }
  if (text.empty()) text = "()";
  if (type.element == ElementType::kFloat32) return text;
  return std::string(ElementName(type.element)) + ":" + text;
}

std::string ListText(const program::Branch& branch, const std::vector<program::SlotIndex>& slots) {
  std::string text;
  for (const program::SlotIndex i : slots) {
    if (!text.empty()) text += " ";
    text += i == program::kNoSlot ? "_" : TypeText(branch.slots[i].type);
  }
  return text;
}

}  // namespace

std::string OperandText(const program::Branch& branch, const program::Step& step) {
  const std::string inputs = ListText(branch, step.inputs);
  return inputs + (inputs.empty() ? "-> " : " -> ") + ListText(branch, step.outputs);
}

}  // namespace poprt::bench
