#include "passes/conversion/eliminate_identity.hpp"

#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

/// The operator table knows Dropout at inference only, which hands its input on.
bool IsDropoutWithoutMask(const Rewriter& rewriter, const ir::Node& node) {
  if (node.op != "Dropout") return false;
  return node.outputs.size() < 2 || node.outputs[1] == ir::kAbsent ||
         rewriter.UsedOnlyBy(0, node.outputs[1]);
}

}  // namespace

absl::Status EliminateIdentity(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, const ir::Node& node) {
    return (node.op == "Identity" || IsDropoutWithoutMask(rewriter, node)) && rewriter.Bypass(node);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
