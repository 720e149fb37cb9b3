#include "passes/lowering/fuse_residual_into_fused.hpp"

#include "passes/lowering/fused_operator.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

/// The fused node that can take `residual`, or null.
ir::Node* Candidate(Rewriter& rewriter, ir::ValueId product, ir::ValueId residual) {
  ir::Node* fused = OpenFused(rewriter, product);
  if (fused == nullptr || !rewriter.UsedOnlyBy(1, product)) return nullptr;
  if (HasInput(*fused, kResidualInput)) return nullptr;
  const ir::Graph& graph = rewriter.graph();
  return graph.type(product) == graph.type(residual) ? fused : nullptr;
}

}  // namespace

absl::Status FuseResidualIntoFused(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "Add") return false;
    ir::Node* left = Candidate(rewriter, node.inputs[0], node.inputs[1]);
    ir::Node* right = Candidate(rewriter, node.inputs[1], node.inputs[0]);
    if (left == nullptr && right == nullptr) return false;
    // Nodes lie in one array, in order.
    const bool take_left = right == nullptr || (left != nullptr && left > right);
    const ir::ValueId residual = node.inputs[take_left ? 1 : 0];
    BecomeFused(node, take_left ? *left : *right);
    node.inputs.resize(kResidualInput, ir::kAbsent);
    node.inputs.push_back(residual);
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
