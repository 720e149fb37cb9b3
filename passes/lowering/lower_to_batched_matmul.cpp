#include "passes/lowering/lower_to_batched_matmul.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "passes/lowering/fused_operator.hpp"
#include "passes/permutation.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

/// What to multiply with instead of b when the last two axes are exchanged by the product itself;
/// b when that gains nothing.
ValueId Untransposed(Rewriter& rewriter, ValueId b) {
  const Node* transpose = rewriter.Producer(b, "Transpose");
  if (transpose == nullptr) return b;
  Ints rest = PermutationOf(rewriter.graph(), *transpose);
  std::swap(rest[rest.size() - 1], rest[rest.size() - 2]);
  if (std::ranges::is_sorted(rest)) return transpose->inputs[0];
  const bool becomes_contiguous = rest.back() == static_cast<std::int64_t>(rest.size()) - 1;
  if (!becomes_contiguous || !rewriter.UsedOnlyBy(1, b)) return b;
  TensorType type = rewriter.graph().type(b);
  std::swap(type.shape[type.shape.size() - 1], type.shape[type.shape.size() - 2]);
  return rewriter.Insert(rewriter.graph().MakeNode("Transpose", {transpose->inputs[0]}, type,
                                                   {{"perm", rest}}, transpose->name));
}

/// A Gemm of run-time matrices: BatchMatMul, and Add where there is a C, which must have factor 1.
bool LowerGemm(Rewriter& rewriter, Node& node) {
  ir::Graph& graph = rewriter.graph();
  const TensorType result = graph.type(node.outputs[0]);
  const bool has_c = HasInput(node, 2);
  if (!IsBackendType(result.element) || result.bytes() == 0) return false;
  if (graph.type(node.inputs[0]).bytes() == 0) return false;
  if (has_c && node.attributes.get_float("beta", 1) != 1.0F) return false;
  ValueId a = node.inputs[0];
  if (node.attributes.get_int("transA", 0) != 0) {
    const TensorType type = graph.type(a);
    a = rewriter.Insert(graph.MakeNode("Transpose", {a},
                                       {type.element, {type.shape[1], type.shape[0]}},
                                       {{"perm", Ints{1, 0}}}, node.name + "_transpose"));
  }
  const std::int64_t trans_b = node.attributes.get_int("transB", 0) != 0 ? 1 : 0;
  const Attributes attributes{{"scale", node.attributes.get_float("alpha", 1)},
                              {"trans_b", trans_b}};
  if (has_c) {
    const ValueId product = rewriter.Insert(
        graph.MakeNode("BatchMatMul", {a, node.inputs[1]}, result, attributes, node.name));
    node.op = "Add";
    node.inputs = {product, node.inputs[2]};
    node.attributes = {};
  } else {
    node.op = "BatchMatMul";
    node.inputs = {a, node.inputs[1]};
    node.attributes = attributes;
  }
  return true;
}

ValueId Reshaped(Rewriter& rewriter, ValueId id, const Shape& shape, const std::string& name) {
  ir::Graph& graph = rewriter.graph();
  const TensorType type{graph.type(id).element, shape};
  if (const Tensor* constant = graph.ConstantOf(id)) {
    const Tensor reshaped = constant->WithType(type);
    return rewriter.AddConstant(graph.value(id).name, reshaped);
  }
  return rewriter.Insert(graph.MakeNode("Reshape", {id}, type, {{"shape", shape}}, name));
}

/// Vectors become matrices of one row or column, which the result loses again.
void LowerVectors(Rewriter& rewriter, Node& node) {
  ir::Graph& graph = rewriter.graph();
  const Shape a = graph.type(node.inputs[0]).shape;
  const Shape b = graph.type(node.inputs[1]).shape;
  TensorType result = graph.type(node.outputs[0]);
  const Shape shape = result.shape;
  if (a.size() == 1) {
    node.inputs[0] = Reshaped(rewriter, node.inputs[0], {1, a[0]}, node.name + "_row");
    result.shape.insert(result.shape.end() - (b.size() == 1 ? 0 : 1), 1);
  }
  if (b.size() == 1) {
    node.inputs[1] = Reshaped(rewriter, node.inputs[1], {b[0], 1}, node.name + "_column");
    result.shape.push_back(1);
  }
  const Attributes attributes{{"scale", 1.0F}, {"trans_b", std::int64_t{0}}};
  const ValueId product =
      rewriter.Insert(graph.MakeNode("BatchMatMul", node.inputs, result, attributes, node.name));
  node.op = "Reshape";
  node.inputs = {product};
  node.attributes = {{"shape", shape}};
}

}  // namespace

absl::Status LowerToBatchedMatmul(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, Node& node) {
    if (node.op == "Gemm") return LowerGemm(rewriter, node);
    const ir::Graph& g = rewriter.graph();
    if (node.op != "MatMul" || !IsBackendType(g.type(node.outputs[0]).element)) return false;
    const std::size_t rank = g.type(node.inputs[1]).shape.size();
    if (g.type(node.inputs[0]).bytes() == 0 || g.type(node.inputs[1]).bytes() == 0) return false;
    if (g.type(node.inputs[0]).shape.size() < 2 || rank < 2) {
      LowerVectors(rewriter, node);
      return true;
    }
    if (rank == 2 && g.ConstantOf(node.inputs[1]) != nullptr) return false;
    const ValueId b = Untransposed(rewriter, node.inputs[1]);
    const bool transposed = b != node.inputs[1];
    node.op = "BatchMatMul";
    node.inputs[1] = b;
    node.attributes = {{"scale", 1.0F}, {"trans_b", std::int64_t{transposed ? 1 : 0}}};
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
