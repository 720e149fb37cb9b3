#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ipu/plan/matrix_operands.hpp"
#include "compiler/ipu/plan/operation.hpp"
#include "compiler/ipu/plan/reduction.hpp"

/// Quantised operators. The AMP units multiply no integers: operands become float16, products are
/// added up in float32, and results are rounded back.
namespace poprt::ipu {
namespace {

/// Divide by the scale, round, add the zero point, clamp, cast.
Placed AddQuantize(StepBuilder& steps, const Placed& x, const Placed& scale,
                   const TensorType& result) {
  const TensorType type{x.type.element, result.shape};
  Placed y = AddBinary(steps, "divide by scale", ElementwiseOp::kDivide, x, scale, type);
  y = AddUnary(steps, "round", ElementwiseOp::kRound, y, type);
  y = AddTernary(steps, "clamp", ElementwiseOp::kClamp, {y}, type);
  return AddCast(steps, y, result.element);
}

Placed AddDequantize(StepBuilder& steps, const Placed& x, const Placed& scale,
                     const TensorType& result) {
  const Placed y = AddCast(steps, x, result.element);
  return AddBinary(steps, "multiply scale", ElementwiseOp::kMultiply, y, scale, result);
}

void ExpandQuantize(Operation& operation) {
  operation.SetOutput(0, AddQuantize(operation.steps(), operation.input(0), operation.input(1),
                                     operation.output_type(0)));
}

void ExpandDequantize(Operation& operation) {
  operation.SetOutput(0, AddDequantize(operation.steps(), operation.input(0), operation.input(1),
                                       operation.output_type(0)));
}

/// Least and largest element, their scale, then as QuantizeLinear.
void ExpandDynamicQuantize(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const Placed& x = operation.input(0);
  const std::vector<bool> all(x.type.shape.size(), true);
  const TensorType scalar{x.type.element, {}};
  const Reduction least{.name = "reduce min",
                        .operation = ReduceOperation::kMin,
                        .axes = all,
                        .result = scalar,
                        .partials = FormatOf(x.type)};
  const Reduction most{.name = "reduce max",
                       .operation = ReduceOperation::kMax,
                       .axes = all,
                       .result = scalar,
                       .partials = FormatOf(x.type)};
  const Placed low = AddReduction(steps, x, least);
  const Placed high = AddReduction(steps, x, most);
  const Placed scale = AddBinary(steps, "scale", ElementwiseOp::kSubtract, high, low, scalar);
  operation.SetOutput(0, AddQuantize(steps, x, scale, operation.output_type(0)));
  for (std::size_t i = 1; i < operation.output_count(); ++i) {
    if (operation.has_output(i)) operation.SetOutput(i, {operation.output_type(i), scale.layout});
  }
}

/// The convolution or product of operands in float16.
void MultiplyAsFloat(Operation& operation, std::size_t weights, ExpandRule rule,
                     std::string_view op) {
  StepBuilder& steps = operation.steps();
  const Placed a = Multipliable(steps, operation.input(0));
  const Placed b = Multipliable(steps, operation.input(weights));
  ir::Node node = operation.node();
  node.op = std::string(op);
  const TensorType sums{ElementType::kFloat32, operation.output_type(0).shape};
  Operation product(node, {a, b}, {sums}, steps);
  rule(product);
  if (const auto& placement = product.placement(1)) operation.PlaceConstant(weights, *placement);
  operation.grid = product.grid;
  operation.flops = product.flops;
  operation.SetOutput(0, product.output(0));
}

/// ConvInteger and MatMulInteger: sums are the result.
template <bool kConvolution>
void ExpandInteger(Operation& operation) {
  const std::string_view op = kConvolution ? "Conv" : "MatMul";
  MultiplyAsFloat(operation, 1, FindExpandRule(op), op);
  operation.SetOutput(
      0, AddCast(operation.steps(), operation.output(0), operation.output_type(0).element));
}

/// QLinearConv and QLinearMatMul: x, its scale and zero point, w, its scale and zero point, then
/// those of the result, then a bias.
template <bool kConvolution>
void ExpandQLinear(Operation& operation) {
  constexpr std::size_t kWeights = 3;
  constexpr std::size_t kResultScale = 6;
  constexpr std::size_t kBias = 8;
  StepBuilder& steps = operation.steps();
  const std::string_view op = kConvolution ? "Conv" : "MatMul";
  MultiplyAsFloat(operation, kWeights, FindExpandRule(op), op);
  Placed y = operation.output(0);
  if (operation.has_input(kBias)) {
    y = AddBinary(steps, "add bias", ElementwiseOp::kAdd, y, operation.input(kBias), y.type);
  }
  operation.SetOutput(
      0, AddQuantize(steps, y, operation.input(kResultScale), operation.output_type(0)));
}

constexpr ExpandRow kRows[] = {
    {"QuantizeLinear", ExpandQuantize},
    {"DequantizeLinear", ExpandDequantize},
    {"DynamicQuantizeLinear", ExpandDynamicQuantize},
    {"MatMulInteger", ExpandInteger<false>},
    {"ConvInteger", ExpandInteger<true>},
    {"QLinearMatMul", ExpandQLinear<false>},
    {"QLinearConv", ExpandQLinear<true>},
};

}  // namespace

std::span<const ExpandRow> QuantizationRules() { return kRows; }

}  // namespace poprt::ipu
