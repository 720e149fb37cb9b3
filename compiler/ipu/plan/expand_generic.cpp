#include <algorithm>

#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ipu/plan/operation.hpp"
#include "compiler/ipu/plan/rearrangement.hpp"

/// What operators without vertices of their own cost.
namespace poprt::ipu {
namespace {

/// Multiplications for each element of the results, by operator: what its definition takes.
std::uint64_t OperationsPerElement(const Operation& operation) {
  const auto last = [&](std::size_t i) {
    if (!operation.has_input(i) || operation.input(i).type.shape.empty()) return std::int64_t{1};
    return std::max<std::int64_t>(operation.input(i).type.shape.back(), 1);
  };
  const std::string_view op = operation.op();
  std::int64_t count = 4;
  if (op == "Det") count = last(0) * last(0);                     // elimination
  if (op == "DFT" || op == "STFT") count = 2 * last(0) + 4 * 16;  // a butterfly for every bit
  if (op == "TreeEnsemble") count = 64;                           // comparisons on the way down
  if (op == "RandomNormal" || op == "Multinomial") count = 16;    // several uniform numbers
  if (op == "Col2Im") count = 9;                                  // blocks over an element
  return static_cast<std::uint64_t>(std::min<std::int64_t>(count, 1 << 16));
}

}  // namespace

/// All operands are brought into linear order, with an exchange and a copy in single elements; then
/// every element of the results takes some multiplications. That is what a codelet in C++ without
/// knowledge of the layout does: an upper estimate.
void ExpandGeneric(Operation& operation) {
  StepBuilder& steps = operation.steps();
  for (std::size_t i = 0; i < operation.input_count(); ++i) {
    if (!operation.has_input(i) || Elements(operation.input(i).type) == 0) continue;
    const Placed& x = operation.input(i);
    Rearrange(steps, "input", x, LinearLayout(steps.target(), steps.tiles(), x.type));
  }
  for (std::size_t i = 0; i < operation.output_count(); ++i) {
    if (!operation.has_output(i)) continue;
    const TensorType& type = operation.output_type(i);
    Placed y{type, LinearLayout(steps.target(), steps.tiles(), type), false, true};
    const RepeatScope repeat(steps, OperationsPerElement(operation));
    AddUnary(steps, std::string(operation.op()),
             IsFloatFormat(FormatOf(type)) ? ElementwiseOp::kSquare : ElementwiseOp::kAbs, y, type);
    operation.SetOutput(i, y);
  }
}

}  // namespace poprt::ipu
