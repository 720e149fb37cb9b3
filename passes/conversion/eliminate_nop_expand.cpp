#include "passes/conversion/eliminate_nop_expand.hpp"

#include "passes/rewrite.hpp"

namespace poprt::passes {
absl::Status EliminateNopExpand(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, const ir::Node& node) {
    return node.op == "Expand" && rewriter.Bypass(node);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
