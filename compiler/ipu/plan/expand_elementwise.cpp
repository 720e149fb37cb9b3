#include <algorithm>

#include "compiler/ipu/cost/elementwise_steps.hpp"
#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ipu/plan/operation.hpp"

/// Element-wise operators: one compute set for each step that the libraries take.
namespace poprt::ipu {
namespace {

/// The type that a step gives: that of the operands, except for the last.
TensorType StepType(const Operation& operation, const Placed& current, bool last) {
  if (last) return operation.output_type(0);
  return {current.type.element, operation.output_type(0).shape};
}

void ExpandUnary(Operation& operation) {
  const auto steps = ElementwiseSteps(operation.op());
  Placed current = operation.input(0);
  const bool read_again = std::any_of(steps.begin(), steps.end(), [](const ElementwiseStep& step) {
    return step.second == StepOperand::kTensor;
  });
  if (read_again) current.overwrite = false;
  const Placed first = current;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const TensorType type = StepType(operation, current, i + 1 == steps.size());
    const std::string name(operation.op());
    switch (steps[i].second) {
      case StepOperand::kNone:
        current = AddUnary(operation.steps(), name, steps[i].op, current, type);
        break;
      case StepOperand::kScalar:
        current = AddScalar(operation.steps(), name, steps[i].op, current, type);
        break;
      case StepOperand::kTensor:
        current = AddBinary(operation.steps(), name, steps[i].op, current, first, type);
        break;
    }
  }
  operation.SetOutput(0, current);
}

/// Two or more operands, one after the other.
void ExpandVariadic(Operation& operation) {
  const auto steps = ElementwiseSteps(operation.op());
  Placed current = operation.input(0);
  const std::string name(operation.op());
  for (std::size_t i = 1; i < operation.input_count(); ++i) {
    const bool last_operand = i + 1 == operation.input_count();
    bool read_operand = false;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const bool last = last_operand && k + 1 == steps.size();
      const TensorType type = StepType(operation, current, last);
      if (steps[k].second == StepOperand::kTensor && !read_operand) {
        current =
            AddBinary(operation.steps(), name, steps[k].op, current, operation.input(i), type);
        read_operand = true;
      } else if (steps[k].second == StepOperand::kNone) {
        current = AddUnary(operation.steps(), name, steps[k].op, current, type);
      } else {
        current = AddScalar(operation.steps(), name, steps[k].op, current, type);
      }
    }
  }
  if (operation.input_count() == 1) current = operation.input(0);
  operation.SetOutput(0, current);
}

void ExpandTernary(Operation& operation) {
  std::vector<Placed> operands;
  for (std::size_t i = 0; i < operation.input_count(); ++i) {
    if (operation.has_input(i)) operands.push_back(operation.input(i));
  }
  const ElementwiseOp op =
      operation.op() == "Where" ? ElementwiseOp::kSelect : ElementwiseOp::kClamp;
  operation.SetOutput(0, AddTernary(operation.steps(), std::string(operation.op()), op, operands,
                                    operation.output_type(0)));
}

void ExpandCast(Operation& operation) {
  operation.SetOutput(
      0, AddCast(operation.steps(), operation.input(0), operation.output_type(0).element));
}

void ExpandElementwise(Operation& operation) {
  if (operation.input_count() > 1) {
    ExpandVariadic(operation);
  } else {
    ExpandUnary(operation);
  }
  operation.flops = Elements(operation.output_type(0));
}

/// Both forms as PopART's Gelu, which is popnn's non-linearity: it computes Phi with tanh. PopART
/// has the form with erf, too (GeluErf, 16 cycles an element instead of 5 for 4), but what PopRT
/// makes of the erf in a model is not published.
void ExpandGelu(Operation& operation) {
  operation.SetOutput(0, AddUnary(operation.steps(), "Gelu", ElementwiseOp::kGeluTanh,
                                  operation.input(0), operation.output_type(0)));
  operation.flops = Elements(operation.output_type(0));
}

constexpr ExpandRow kRows[] = {
    {"Cast", ExpandCast}, {"CastLike", ExpandCast}, {"Clip", ExpandTernary},
    {"Gelu", ExpandGelu}, {"Where", ExpandTernary},
};

}  // namespace

std::span<const ExpandRow> ElementwiseRules() {
  // The table of steps knows the others.
  return kRows;
}

ExpandRule StepwiseRule(std::string_view op) {
  return ElementwiseSteps(op).empty() ? ExpandGeneric : ExpandElementwise;
}

}  // namespace poprt::ipu
