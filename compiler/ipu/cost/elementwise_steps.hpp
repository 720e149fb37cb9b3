#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/ipu/cost/elementwise_vertex.hpp"

/// ONNX operators as element-wise compute sets.
namespace poprt::ipu {

/// Second operand of a step.
enum class StepOperand : std::uint8_t {
  kNone,    ///< the step has one operand
  kScalar,  ///< a number, or an operand with one element
  kTensor,  ///< an operand of the operator, or the result of an earlier step
};

/// One compute set. Its first operand is that of the operator, or the result of the step before it.
struct ElementwiseStep {
  ElementwiseOp op = ElementwiseOp::kAdd;
  StepOperand second = StepOperand::kNone;
};

/// The compute sets of an ONNX operator, each over all elements of its result; of Max, Min, Sum and
/// Mean, those for every operand after the first. Empty when the operator is not element-wise. Cast
/// is not among them (CastVertexCycles), nor is Gelu's tanh form, which is one step of kGeluTanh.
std::span<const ElementwiseStep> ElementwiseSteps(std::string_view onnx_op);

}  // namespace poprt::ipu
