#include "passes/lowering/fuse_transpose_into_recurrent.hpp"

#include "compiler/ir/placement.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/permutation.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

using ir::Node;

bool KeepsLastAxis(const Ints& perm) {
  return !perm.empty() && perm.back() == static_cast<std::int64_t>(perm.size()) - 1;
}

/// Reads the value before the Transpose.
bool FuseInput(Rewriter& rewriter, Node& recurrent) {
  const Node* const transpose = rewriter.Producer(recurrent.inputs[0], "Transpose");
  if (transpose == nullptr || recurrent.attributes.has("x_perm")) return false;
  const Ints perm = PermutationOf(rewriter.graph(), *transpose);
  if (!KeepsLastAxis(perm)) return false;
  recurrent.inputs[0] = transpose->inputs[0];
  recurrent.attributes.set("x_perm", perm);
  return true;
}

/// Writes the value behind the Transpose.
bool FuseOutput(Rewriter& rewriter, Node& transpose) {
  const ir::ValueId y = transpose.inputs[0];
  Node* const recurrent = rewriter.Producer(y);
  if (recurrent == nullptr || !IsRecurrent(*recurrent) || recurrent->outputs[0] != y) return false;
  if (!rewriter.UsedOnlyBy(1, y) || recurrent->attributes.has("y_perm")) return false;
  if (ir::PlacementOf(recurrent->attributes) != ir::PlacementOf(transpose.attributes)) return false;
  ir::Graph& graph = rewriter.graph();
  const Ints perm = PermutationOf(graph, transpose);
  if (!KeepsLastAxis(perm)) return false;
  recurrent->attributes.set("y_perm", perm);
  graph.value(y).type = graph.type(transpose.outputs[0]);
  rewriter.Forward(transpose.outputs[0], y);
  return true;
}

bool Fuse(Rewriter& rewriter, Node& node) {
  if (IsRecurrent(node)) return FuseInput(rewriter, node);
  return node.op == "Transpose" && FuseOutput(rewriter, node);
}

}  // namespace

absl::Status FuseTransposeIntoRecurrent(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, Fuse);
  return absl::OkStatus();
}

}  // namespace poprt::passes
