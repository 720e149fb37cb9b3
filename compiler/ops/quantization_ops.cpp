#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"
#include "runtime/kernels/quantized/scale_grid.hpp"

namespace poprt::ops {
namespace {

bool IsByte(ElementType type) { return type == ElementType::kInt8 || type == ElementType::kUint8; }

bool IsFloat8(ElementType type) {
  return IsNarrowFloat(type) && type != ElementType::kFloat4E2M1 &&
         type != ElementType::kFloat8E8M0;
}

bool IsQuantized(ElementType type) {
  return IsByte(type) || type == ElementType::kInt16 || type == ElementType::kUint16 ||
         IsNarrowInteger(type) || IsFloat8(type) || type == ElementType::kFloat4E2M1;
}

/// The floats that scales may be.
bool IsScale(ElementType type) {
  return type == ElementType::kFloat32 || type == ElementType::kFloat16 ||
         type == ElementType::kBFloat16;
}

void RequireKind(const InferenceCall& call, std::size_t input, bool (*allowed)(ElementType),
                 std::string_view kind) {
  const TensorType& type = call.input(input);
  Require(allowed(type.element), "input ", input, " is ", type, ", its elements must be ", kind);
}

void RequireScale(const InferenceCall& call, std::size_t input) {
  RequireKind(call, input, IsScale, "float32, float16 or bfloat16");
}

void RequireByte(const InferenceCall& call, std::size_t input) {
  RequireKind(call, input, IsByte, "int8 or uint8");
}

void RequireOne(const InferenceCall& call, std::size_t input) {
  const TensorType& type = call.input(input);
  Require(CheckedElementCount(type.shape) == 1, "input ", input, " is ", type,
          ", it must have one element");
}

void RequirePointShape(const InferenceCall& call, std::size_t point, std::size_t scale) {
  const Shape& wanted = call.input(scale).shape;
  const bool are_single =
      CheckedElementCount(call.input(point).shape) == 1 && CheckedElementCount(wanted) == 1;
  if (!are_single) RequireShape(call, point, wanted);
}

/// A zero point has the type of what it is the zero of, and the shape of the scale; single numbers
/// may be vectors or not.
void RequirePoint(const InferenceCall& call, std::size_t point, ElementType element,
                  std::size_t scale) {
  RequireElement(call, point, element);
  RequirePointShape(call, point, scale);
}

void CheckGrid(const InferenceCall& call) {
  const kernels::KernelCall grid{.inputs = {}, .outputs = {}, .attributes = call.attributes};
  kernels::ScaleGrid::Resolve(grid, call.input(0), call.input(1));
}

Types InferQuantizeLinear(const InferenceCall& call) {
  const ElementType input = call.input(0).element;
  Require(IsFloat(input) || input == ElementType::kInt32, "input 0 is ", call.input(0),
          ", its elements must be floats or int32");
  const ElementType scale = call.input(1).element;
  Require(IsScale(scale) || scale == ElementType::kInt32 || scale == ElementType::kFloat8E8M0,
          "input 1 is ", call.input(1),
          ", its elements must be float32, float16, bfloat16, int32 or float8e8m0");
  CheckGrid(call);
  const ElementType precision =
      ElementAttribute(call.attributes, "precision", ElementType::kFloat32);
  Require(IsFloat(precision), "attribute 'precision' names ", precision, ", it must name a float");
  const TensorType& point = call.input(2);
  const ElementType output = ElementAttribute(
      call.attributes, "output_dtype", point.defined() ? point.element : ElementType::kUint8);
  Require(IsQuantized(output), "the output would be ", output,
          ", which is not what floats are quantised to");
  if (point.defined()) RequirePoint(call, 2, output, 1);
  return {{output, call.input(0).shape}};
}

Types InferDequantizeLinear(const InferenceCall& call) {
  const ElementType input = call.input(0).element;
  Require(IsQuantized(input) || input == ElementType::kInt32, "input 0 is ", call.input(0),
          ", which is not what floats are quantised to");
  const ElementType scale = call.input(1).element;
  Require(IsScale(scale) || scale == ElementType::kFloat8E8M0, "input 1 is ", call.input(1),
          ", its elements must be float32, float16, bfloat16 or float8e8m0");
  CheckGrid(call);
  if (call.input(2).defined()) RequirePoint(call, 2, input, 1);
  const ElementType output = ElementAttribute(call.attributes, "output_dtype", scale);
  Require(IsScale(output), "the output would be ", output,
          ", attribute 'output_dtype' must name float32, float16 or bfloat16");
  return {{output, call.input(0).shape}};
}

Types InferDynamicQuantizeLinear(const InferenceCall& call) {
  RequireElement(call, 0, ElementType::kFloat32);
  return {{ElementType::kUint8, call.input(0).shape},
          {ElementType::kFloat32, {}},
          {ElementType::kUint8, {}}};
}

/// Zero points of MatMulInteger and scales of QLinearMatMul: one number, or one per row of the left
/// (column of the right) operand, alike for all matrices or not.
void RequireLines(const InferenceCall& call, std::size_t input, const TensorType& operand,
                  bool is_left) {
  const TensorType& type = call.input(input);
  const Shape& shape = type.shape;
  if (CheckedElementCount(shape) == 1) return;
  const std::size_t rank = operand.shape.size();
  const std::int64_t lines = rank < 2 ? 1 : operand.shape[is_left ? rank - 2 : rank - 1];
  bool fits = shape == Shape{lines};
  if (shape.size() >= 2 && shape.size() <= rank) {
    Shape per_line = operand.shape;
    per_line[is_left ? rank - 1 : rank - 2] = 1;
    fits = fits || Broadcast(shape, per_line) == per_line;
  }
  Require(fits, "input ", input, " is ", type, ", which is neither one number nor one for each of ",
          lines, is_left ? " rows" : " columns");
}

Types InferMatMulInteger(const InferenceCall& call) {
  for (const std::size_t i : {0, 1}) {
    RequireByte(call, i);
    if (!call.input(2 + i).defined()) continue;
    RequireElement(call, 2 + i, call.input(i).element);
    RequireLines(call, 2 + i, call.input(i), i == 0);
  }
  return {{ElementType::kInt32, MatMulShape(call.input(0), call.input(1))}};
}

Types InferQLinearMatMul(const InferenceCall& call) {
  const auto is_factor = [](ElementType type) { return IsByte(type) || IsFloat8(type); };
  for (const std::size_t operand : {0, 3}) {
    RequireKind(call, operand, is_factor, "int8, uint8 or 8-bit floats");
    RequireScale(call, operand + 1);
    RequireElement(call, operand + 1, call.input(1).element);
    RequirePoint(call, operand + 2, call.input(operand).element, operand + 1);
    RequireLines(call, operand + 1, call.input(operand), operand == 0);
  }
  RequireElement(call, 6, call.input(1).element);
  RequireOne(call, 6);
  RequireKind(call, 7, is_factor, "int8, uint8 or 8-bit floats");
  RequirePointShape(call, 7, 6);
  return {{call.input(7).element, MatMulShape(call.input(0), call.input(3))}};
}

/// One number, or one for every output channel of the weights.
void RequireChannels(const InferenceCall& call, std::size_t input, const TensorType& weights) {
  const TensorType& type = call.input(input);
  const std::int64_t channels = weights.shape.empty() ? 0 : weights.shape[0];
  Require(type.shape.empty() || type.shape == Shape{1} || type.shape == Shape{channels}, "input ",
          input, " is ", type, ", which is neither one number nor one for each of ", channels,
          " output channels");
}

Types InferConvInteger(const InferenceCall& call) {
  RequireByte(call, 0);
  RequireByte(call, 1);
  const Shape shape = ConvShape(call.attributes, call.input(0), call.input(1));
  if (call.input(2).defined()) {
    RequireElement(call, 2, call.input(0).element);
    RequireOne(call, 2);
  }
  if (call.input(3).defined()) {
    RequireElement(call, 3, call.input(1).element);
    RequireChannels(call, 3, call.input(1));
  }
  return {{ElementType::kInt32, shape}};
}

Types InferQLinearConv(const InferenceCall& call) {
  for (const std::size_t i : {0, 3, 7}) RequireByte(call, i);
  for (const std::size_t i : {1, 4, 6}) RequireElement(call, i, ElementType::kFloat32);
  const Shape shape = ConvShape(call.attributes, call.input(0), call.input(3));
  RequireOne(call, 1);
  RequireOne(call, 6);
  RequireChannels(call, 4, call.input(3));
  RequirePoint(call, 2, call.input(0).element, 1);
  RequirePoint(call, 5, call.input(3).element, 4);
  RequirePointShape(call, 7, 6);
  if (call.input(8).defined()) {
    RequireElement(call, 8, ElementType::kInt32);
    RequireShape(call, 8, {call.input(3).shape[0]});
  }
  return {{call.input(7).element, shape}};
}

}  // namespace

std::span<const OpDef> QuantizationOps() {
  static const OpDef rows[] = {
      {.name = "QuantizeLinear", .since = 10, .inputs = {2, 3}, .infer = InferQuantizeLinear},
      {.name = "DequantizeLinear", .since = 10, .inputs = {2, 3}, .infer = InferDequantizeLinear},
      {.name = "DynamicQuantizeLinear",
       .since = 11,
       .outputs = {3, 3},
       .infer = InferDynamicQuantizeLinear},
      {.name = "MatMulInteger", .since = 10, .inputs = {2, 4}, .infer = InferMatMulInteger},
      {.name = "QLinearMatMul", .since = 10, .inputs = {8, 8}, .infer = InferQLinearMatMul},
      {.name = "ConvInteger", .since = 10, .inputs = {2, 4}, .infer = InferConvInteger},
      {.name = "QLinearConv", .since = 10, .inputs = {8, 9}, .infer = InferQLinearConv},
  };
  return rows;
}

}  // namespace poprt::ops
