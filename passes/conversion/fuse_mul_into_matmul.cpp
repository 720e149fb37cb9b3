#include "passes/conversion/fuse_mul_into_matmul.hpp"

#include <utility>
#include <vector>

#include "passes/constant_values.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

bool Fuse(Rewriter& rewriter, ir::Node& mul, ir::ValueId product, ir::ValueId factor) {
  const ir::Graph& graph = rewriter.graph();
  ir::Node* matmul = rewriter.Producer(product, "MatMul");
  if (matmul == nullptr || !rewriter.UsedOnlyBy(1, product)) return false;
  const Tensor* weights = graph.ConstantOf(matmul->inputs[1]);
  if (weights == nullptr || weights->shape().size() != 2 || weights->count() == 0) return false;
  if (!IsFloat(weights->element()) || graph.type(mul.outputs[0]) != graph.type(product))
    return false;

  const std::int64_t columns = weights->shape()[1];
  const auto factors = AlongAxis(graph, factor, columns, 0);
  if (!factors) return false;
  std::vector<double> values = ToDoubles(*weights);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= (*factors)[i % factors->size()];
  mul.inputs = {matmul->inputs[0], rewriter.AddConstant(matmul->name + "_weights",
                                                        FromDoubles(weights->type(), values))};
  mul.op = "MatMul";
  std::swap(mul.name, matmul->name);
  return true;
}

}  // namespace

absl::Status FuseMulIntoMatmul(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "Mul") return false;
    return Fuse(rewriter, node, node.inputs[0], node.inputs[1]) ||
           Fuse(rewriter, node, node.inputs[1], node.inputs[0]);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
