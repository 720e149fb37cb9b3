#include "passes/conversion/fuse_consecutive_transpose.hpp"

#include "passes/permutation.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
absl::Status FuseConsecutiveTranspose(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "Transpose") return false;
    const ir::Node* inner = rewriter.Producer(node.inputs[0], "Transpose");
    if (inner == nullptr) return false;
    const Ints first = PermutationOf(rewriter.graph(), *inner);
    node.attributes.set("perm", Permuted(first, PermutationOf(rewriter.graph(), node)));
    node.inputs[0] = inner->inputs[0];
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
