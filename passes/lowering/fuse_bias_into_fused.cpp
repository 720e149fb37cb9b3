#include "passes/lowering/fuse_bias_into_fused.hpp"

#include "passes/constant_values.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

bool Fuse(Rewriter& rewriter, ir::Node& add, ir::ValueId product, ir::ValueId bias) {
  const ir::Graph& graph = rewriter.graph();
  ir::Node* fused = OpenFused(rewriter, product);
  if (fused == nullptr || !rewriter.UsedOnlyBy(1, product)) return false;
  if (HasInput(*fused, kBiasInput) || HasInput(*fused, kResidualInput)) return false;
  const TensorType type = graph.type(product);
  if (graph.type(add.outputs[0]) != type) return false;

  const bool channels_first = fused->op == "FusedConv";
  const std::size_t axis = channels_first ? 1 : type.shape.size() - 1;
  const std::int64_t count = type.shape[axis];
  const auto values = AlongAxis(graph, bias, count, type.shape.size() - 1 - axis);
  if (!values) return false;
  BecomeFused(add, *fused);
  add.inputs.resize(kBiasInput);
  add.inputs.push_back(
      rewriter.AddConstant(add.name + "_bias", FromDoubles({type.element, {count}}, *values)));
  return true;
}

}  // namespace

absl::Status FuseBiasIntoFused(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "Add") return false;
    return Fuse(rewriter, node, node.inputs[0], node.inputs[1]) ||
           Fuse(rewriter, node, node.inputs[1], node.inputs[0]);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
