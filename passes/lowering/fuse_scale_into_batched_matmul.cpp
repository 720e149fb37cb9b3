#include "passes/lowering/fuse_scale_into_batched_matmul.hpp"

#include <optional>

#include "passes/constant_values.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

bool Fuse(Rewriter& rewriter, ir::Node& node, ir::ValueId product, ir::ValueId scalar) {
  const ir::Graph& graph = rewriter.graph();
  ir::Node* matmul = rewriter.Producer(product, "BatchMatMul");
  if (matmul == nullptr || !rewriter.UsedOnlyBy(1, product)) return false;
  if (graph.type(node.outputs[0]) != graph.type(product)) return false;
  const std::optional<double> value = UniformValue(graph, scalar);
  if (!value || (node.op == "Div" && *value == 0)) return false;
  const auto scale = static_cast<double>(matmul->attributes.get_float("scale", 1));
  const double fused = node.op == "Div" ? scale / *value : scale * *value;
  BecomeFused(node, *matmul);
  node.attributes.set("scale", static_cast<float>(fused));
  return true;
}

}  // namespace

absl::Status FuseScaleIntoBatchedMatmul(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "Mul" && node.op != "Div") return false;
    if (Fuse(rewriter, node, node.inputs[0], node.inputs[1])) return true;
    return node.op == "Mul" && Fuse(rewriter, node, node.inputs[1], node.inputs[0]);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
