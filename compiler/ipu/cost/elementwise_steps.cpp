#include "compiler/ipu/cost/elementwise_steps.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace poprt::ipu {
namespace {

using Op = ElementwiseOp;
using Second = StepOperand;

constexpr std::size_t kMostSteps = 5;

struct Row {
  // Implicit, so that the table below reads as one.
  constexpr Row(std::string_view name, std::initializer_list<ElementwiseStep> list)
      : onnx_op(name), count(list.size()) {
    std::copy(list.begin(), list.end(), steps.begin());
  }

  std::string_view onnx_op;
  std::size_t count;
  std::array<ElementwiseStep, kMostSteps> steps;
};

constexpr ElementwiseStep One(Op op) { return {op, Second::kNone}; }
constexpr ElementwiseStep Scalar(Op op) { return {op, Second::kScalar}; }
constexpr ElementwiseStep Tensor(Op op) { return {op, Second::kTensor}; }

// An operator without a vertex is composed of those that have one (section 2.7), as its definition
// says; nothing is fused.
constexpr auto kRows = std::to_array<Row>({
    // With a vertex of their own.
    {"Abs", {One(Op::kAbs)}},
    {"Add", {Tensor(Op::kAdd)}},
    {"And", {Tensor(Op::kLogicalAnd)}},
    {"BitShift", {Tensor(Op::kShift)}},
    {"BitwiseAnd", {Tensor(Op::kBitwiseAnd)}},
    {"BitwiseNot", {One(Op::kBitwiseNot)}},
    {"BitwiseOr", {Tensor(Op::kBitwiseAnd)}},
    {"BitwiseXor", {Tensor(Op::kBitwiseAnd)}},
    {"Ceil", {One(Op::kCeil)}},
    {"Clip", {Scalar(Op::kClamp)}},
    {"Cos", {One(Op::kCos)}},
    {"Div", {Tensor(Op::kDivide)}},
    {"Equal", {Tensor(Op::kCompare)}},
    {"Erf", {One(Op::kErf)}},
    {"Exp", {One(Op::kExp)}},
    {"Floor", {One(Op::kFloor)}},
    {"Gelu", {One(Op::kGeluErf)}},
    {"Greater", {Tensor(Op::kCompare)}},
    {"GreaterOrEqual", {Tensor(Op::kCompare)}},
    {"IsInf", {One(Op::kIsFinite)}},
    {"IsNaN", {One(Op::kIsFinite)}},
    {"Less", {Tensor(Op::kCompare)}},
    {"LessOrEqual", {Tensor(Op::kCompare)}},
    {"Log", {One(Op::kLog)}},
    {"Max", {Tensor(Op::kMaximum)}},
    {"Min", {Tensor(Op::kMinimum)}},
    {"Mod", {Tensor(Op::kRemainder)}},
    {"Mul", {Tensor(Op::kMultiply)}},
    {"Neg", {One(Op::kNegate)}},
    {"Not", {One(Op::kLogicalNot)}},
    {"Or", {Tensor(Op::kLogicalAnd)}},
    {"Pow", {Tensor(Op::kPower)}},
    {"Reciprocal", {One(Op::kInverse)}},
    {"Relu", {One(Op::kRelu)}},
    {"Round", {One(Op::kRound)}},
    {"Sigmoid", {One(Op::kSigmoid)}},
    {"Sign", {One(Op::kSign)}},
    {"Sin", {One(Op::kSin)}},
    {"Sqrt", {One(Op::kSqrt)}},
    {"Sub", {Tensor(Op::kSubtract)}},
    {"Sum", {Tensor(Op::kAdd)}},
    {"Swish", {One(Op::kSwish)}},
    {"Tan", {One(Op::kTan)}},
    {"Tanh", {One(Op::kTanh)}},
    {"Where", {Tensor(Op::kSelect)}},
    {"Xor", {Tensor(Op::kLogicalAnd)}},
    // Each operand is scaled as it is added.
    {"Mean", {Scalar(Op::kMultiply), Tensor(Op::kAdd)}},
    // Choices between x and a function of it.
    {"LeakyRelu", {Scalar(Op::kMultiply), Scalar(Op::kCompare), Tensor(Op::kSelect)}},
    {"PRelu", {Tensor(Op::kMultiply), Scalar(Op::kCompare), Tensor(Op::kSelect)}},
    {"ThresholdedRelu", {Scalar(Op::kCompare), Tensor(Op::kSelect)}},
    {"Elu", {One(Op::kExpm1), Scalar(Op::kMultiply), Scalar(Op::kCompare), Tensor(Op::kSelect)}},
    {"Celu",
     {Scalar(Op::kMultiply), One(Op::kExpm1), Scalar(Op::kMultiply), Scalar(Op::kCompare),
      Tensor(Op::kSelect)}},
    {"Selu",
     {One(Op::kExpm1), Scalar(Op::kMultiply), Scalar(Op::kMultiply), Scalar(Op::kCompare),
      Tensor(Op::kSelect)}},
    {"Shrink",
     {Scalar(Op::kAdd), Scalar(Op::kCompare), Tensor(Op::kSelect), Scalar(Op::kCompare),
      Tensor(Op::kSelect)}},
    // clamp(a x + b), and x times it.
    {"HardSigmoid", {Scalar(Op::kMultiply), Scalar(Op::kAdd), Scalar(Op::kClamp)}},
    {"HardSwish",
     {Scalar(Op::kMultiply), Scalar(Op::kAdd), Scalar(Op::kClamp), Tensor(Op::kMultiply)}},
    // log(1 + e^x), and x tanh of it.
    {"Softplus", {One(Op::kExp), One(Op::kLog1p)}},
    {"Mish", {One(Op::kExp), One(Op::kLog1p), One(Op::kTanh), Tensor(Op::kMultiply)}},
    // x / (1 + |x|).
    {"Softsign", {One(Op::kAbs), Scalar(Op::kAdd), Tensor(Op::kDivide)}},
    // atan2(x, sqrt(1 - x x)), atan2(sqrt(1 - x x), x), atan2(x, 1).
    {"Asin", {One(Op::kSquare), Scalar(Op::kSubtract), One(Op::kSqrt), Tensor(Op::kAtan2)}},
    {"Acos", {One(Op::kSquare), Scalar(Op::kSubtract), One(Op::kSqrt), Tensor(Op::kAtan2)}},
    {"Atan", {Scalar(Op::kAtan2)}},
    // log(x + sqrt(x x +- 1)), log((1 + x) / (1 - x)) / 2.
    {"Asinh",
     {One(Op::kSquare), Scalar(Op::kAdd), One(Op::kSqrt), Tensor(Op::kAdd), One(Op::kLog)}},
    {"Acosh",
     {One(Op::kSquare), Scalar(Op::kSubtract), One(Op::kSqrt), Tensor(Op::kAdd), One(Op::kLog)}},
    {"Atanh",
     {Scalar(Op::kAdd), Scalar(Op::kSubtract), Tensor(Op::kDivide), One(Op::kLog),
      Scalar(Op::kMultiply)}},
    // (e^x -+ 1 / e^x) / 2.
    {"Sinh", {One(Op::kExp), One(Op::kInverse), Tensor(Op::kSubtract), Scalar(Op::kMultiply)}},
    {"Cosh", {One(Op::kExp), One(Op::kInverse), Tensor(Op::kAdd), Scalar(Op::kMultiply)}},
});

}  // namespace

std::span<const ElementwiseStep> ElementwiseSteps(std::string_view onnx_op) {
  const auto row = std::find_if(kRows.begin(), kRows.end(),
                                [&](const Row& candidate) { return candidate.onnx_op == onnx_op; });
  if (row == kRows.end()) return {};
  return std::span(row->steps).first(row->count);
}

}  // namespace poprt::ipu
