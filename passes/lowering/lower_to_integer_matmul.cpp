#include "passes/lowering/lower_to_integer_matmul.hpp"

#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/quantization_parameters.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/quantized/quantized.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

bool LowerMatMul(Rewriter& rewriter, Node& node) {
  const ir::Graph& graph = rewriter.graph();
  const Tensor* weights = graph.ConstantOf(node.inputs[1]);
  if (weights == nullptr || weights->shape().size() != 2 || weights->count() == 0) return false;
  if (graph.type(node.inputs[0]).shape.size() < 2) return false;
  if (graph.type(node.outputs[0]).bytes() == 0) return false;
  const std::int64_t columns = weights->shape()[1];
  if (HasInput(node, 2) && ElementCount(graph.type(node.inputs[2]).shape) != 1) return false;
  if (HasInput(node, 3)) {
    const Shape& points = graph.type(node.inputs[3]).shape;
    if (ElementCount(points) != 1 && points != Shape{columns}) return false;
  }
  node.op = "IntegerMatMul";
  return true;
}

/// The IntegerMatMul whose only use is that of `id`, if it has nothing at the position yet.
const Node* ProductBefore(Rewriter& rewriter, ValueId id, std::size_t position) {
  const Node* product = rewriter.Producer(id, "IntegerMatMul");
  if (product == nullptr || !rewriter.UsedOnlyBy(1, id)) return nullptr;
  return product->inputs.size() > position ? nullptr : product;
}

void Become(Node& node, const Node& product, std::size_t position, ValueId operand) {
  node.op = "IntegerMatMul";
  node.inputs = product.inputs;
  node.attributes = {};
  if (operand == ir::kAbsent) return;
  node.inputs.resize(position, ir::kAbsent);
  node.inputs.push_back(operand);
}

bool TakeCast(Rewriter& rewriter, Node& node) {
  const ir::Graph& graph = rewriter.graph();
  const Node* product = ProductBefore(rewriter, node.inputs[0], kIntegerScales);
  if (product == nullptr || graph.type(node.outputs[0]).element != ElementType::kFloat32 ||
      graph.type(node.inputs[0]).element != ElementType::kInt32) {
    return false;
  }
  Become(node, *product, kIntegerScales, ir::kAbsent);
  return true;
}

/// A factor or summand beside a product of floats.
bool TakeOperand(Rewriter& rewriter, Node& node, std::size_t position) {
  const ir::Graph& graph = rewriter.graph();
  const TensorType& type = graph.type(node.outputs[0]);
  for (const std::size_t i : {0U, 1U}) {
    const Node* product = ProductBefore(rewriter, node.inputs[i], position);
    const ValueId other = node.inputs[1 - i];
    if (product == nullptr || type != graph.type(node.inputs[i])) continue;
    if (type.element != ElementType::kFloat32) continue;
    const Shape& shape = graph.type(other).shape;
    const bool is_vector = shape == Shape{type.shape.back()};
    const bool is_bias = position == kIntegerBias;
    if (is_bias ? !is_vector || graph.ConstantOf(other) == nullptr
                : !is_vector && ElementCount(shape) != 1) {
      continue;
    }
    Become(node, *product, position, other);
    return true;
  }
  return false;
}

/// A QuantizeLinear of a product of floats.
bool TakeQuantize(Rewriter& rewriter, Node& node) {
  const ir::Graph& graph = rewriter.graph();
  const auto to = QuantizationParametersOf(graph, node);
  const ElementType element = graph.type(node.outputs[0]).element;
  if (!to || !kernels::Contains(kernels::kByteTypes, element)) return false;
  const ValueId floats =
      element == ElementType::kUint8 ? BeforeCutOff(rewriter, node, *to) : node.inputs[0];
  if (graph.type(floats).element != ElementType::kFloat32) return false;
  const Node* product = ProductBefore(rewriter, floats, kIntegerBias + 1);
  if (product == nullptr || product->attributes.has("y_scale")) return false;
  Become(node, *product, kIntegerBias, ir::kAbsent);
  node.attributes.set("y_scale", static_cast<float>(to->scale));
  node.attributes.set("y_point", static_cast<std::int64_t>(to->point));
  return true;
}

bool Lower(Rewriter& rewriter, Node& node) {
  if (node.op == "MatMulInteger") return LowerMatMul(rewriter, node);
  if (node.op == "Cast") return TakeCast(rewriter, node);
  if (node.op == "Mul") return TakeOperand(rewriter, node, kIntegerScales);
  if (node.op == "Add") return TakeOperand(rewriter, node, kIntegerBias);
  if (node.op == "QuantizeLinear") return TakeQuantize(rewriter, node);
  return false;
}

}  // namespace

absl::Status LowerToIntegerMatmul(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, Lower);
  return absl::OkStatus();
}

}  // namespace poprt::passes
