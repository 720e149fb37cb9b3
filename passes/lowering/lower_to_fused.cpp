#include "passes/lowering/lower_to_fused.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "passes/constant_values.hpp"
#include "passes/gemm_constants.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/node_inserter.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

/// Whether all axes but the last two have an extent of 1.
bool IsOneMatrix(const Shape& shape) {
  return shape.size() >= 2 && ElementCount(shape) == shape.end()[-2] * shape.end()[-1];
}

/// The constant that operand `i` is if that is one matrix with elements, or null.
const Tensor* MatrixOf(const ir::Graph& graph, const Node& node, std::size_t i) {
  const Tensor* weights = graph.ConstantOf(node.inputs[i]);
  const bool is_matrix =
      weights != nullptr && weights->count() > 0 && IsOneMatrix(weights->shape());
  return is_matrix ? weights : nullptr;
}

/// The operand as a constant of two axes.
ValueId AsMatrix(Rewriter& rewriter, const Node& node, std::size_t i) {
  const Tensor& weights = *rewriter.graph().ConstantOf(node.inputs[i]);
  const Shape& shape = weights.shape();
  if (shape.size() == 2) return node.inputs[i];
  const TensorType matrix{weights.element(), {shape.end()[-2], shape.end()[-1]}};
  return rewriter.AddConstant(node.name + "_matrix", weights.WithType(matrix));
}

/// A matrix by columns, each a matrix of its own: the columns are rows where they lie, and are
/// multiplied by its transpose.
bool LowerColumns(Rewriter& rewriter, Node& node) {
  const ir::Graph& graph = rewriter.graph();
  const Tensor* weights = MatrixOf(graph, node, 0);
  const Shape& columns = graph.type(node.inputs[1]).shape;
  if (weights == nullptr || columns.size() < 2 || columns.back() != 1) return false;
  const std::int64_t depth = weights->shape().end()[-1];
  const Shape result = graph.type(node.outputs[0]).shape;
  const std::int64_t rows = ElementCount(result) / result.end()[-2];
  const ValueId matrix = AsMatrix(rewriter, node, 0);
  NodeInserter insert(rewriter, node.name);
  const Shape x{rows, depth};
  const ValueId reshaped = insert("Reshape", {node.inputs[1]}, x, {{"shape", x}});
  node.op = "Reshape";
  node.inputs = {insert("FusedMatMul", {reshaped, matrix}, {rows, result.end()[-2]},
                        {{"trans_b", std::int64_t{1}}})};
  node.attributes = {{"shape", result}};
  return true;
}

bool LowerMatMul(Rewriter& rewriter, Node& node) {
  const ir::Graph& graph = rewriter.graph();
  const Tensor* weights = MatrixOf(graph, node, 1);
  if (weights == nullptr) return LowerColumns(rewriter, node);
  // A product of a vector is one, too; others have the weights' leading extents of 1.
  const std::size_t rank = graph.type(node.inputs[0]).shape.size();
  if (weights->shape().size() > std::max<std::size_t>(rank, 2)) return false;
  node.inputs[1] = AsMatrix(rewriter, node, 1);
  node.op = "FusedMatMul";
  node.attributes.set("trans_b", std::int64_t{0});
  return true;
}

/// C when it is a run-time value that the backend adds as a residual.
std::optional<ValueId> ResidualOf(const ir::Graph& graph, const Node& gemm) {
  if (gemm.inputs.size() < 3 || gemm.inputs[2] == ir::kAbsent) return std::nullopt;
  if (gemm.attributes.get_float("beta", 1) != 1.0F) return std::nullopt;
  if (graph.type(gemm.inputs[2]) != graph.type(gemm.outputs[0])) return std::nullopt;
  return gemm.inputs[2];
}

bool LowerGemm(Rewriter& rewriter, Node& node) {
  const ir::Graph& graph = rewriter.graph();
  const ElementType element = graph.type(node.inputs[0]).element;
  const auto constants = GemmConstantsOf(graph, node);
  const auto weights = constants ? constants->weights : GemmWeightsOf(graph, node);
  const auto residual = constants ? std::nullopt : ResidualOf(graph, node);
  if (!weights || (!constants && !residual)) return false;

  std::vector<ValueId> inputs = {node.inputs[0], node.inputs[1]};
  if (weights->data() != graph.ConstantOf(node.inputs[1])->data()) {
    inputs[1] = rewriter.AddConstant(node.name + "_weights", *weights);
  }
  if (residual) inputs.insert(inputs.end(), {ir::kAbsent, *residual});
  if (constants && !constants->bias.empty()) {
    const auto columns = static_cast<std::int64_t>(constants->bias.size());
    inputs.push_back(rewriter.AddConstant(node.name + "_bias",
                                          FromDoubles({element, {columns}}, constants->bias)));
  }
  node.op = "FusedMatMul";
  node.inputs = std::move(inputs);
  node.attributes = {{"trans_b", node.attributes.get_int("transB", 0)}};
  return true;
}

bool LowerConv(const ir::Graph& graph, Node& node) {
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != ir::kAbsent;
  if (graph.ConstantOf(node.inputs[1]) == nullptr) return false;
  if (has_bias && graph.ConstantOf(node.inputs[2]) == nullptr) return false;
  constexpr std::size_t kTwoSpatialAxes = 4;
  if (graph.type(node.inputs[0]).shape.size() != kTwoSpatialAxes) return false;
  node.op = "FusedConv";
  return true;
}

}  // namespace

absl::Status LowerToFused(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, Node& node) {
    if (node.op != "MatMul" && node.op != "Gemm" && node.op != "Conv") return false;
    const TensorType& result = rewriter.graph().type(node.outputs[0]);
    if (!IsBackendType(result.element) || ElementCount(result.shape) == 0) return false;
    if (node.op == "MatMul") return LowerMatMul(rewriter, node);
    if (node.op == "Gemm") return LowerGemm(rewriter, node);
    return LowerConv(rewriter.graph(), node);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
