#include "passes/conversion/eliminate_nop_flatten.hpp"

#include "passes/rewrite.hpp"

namespace poprt::passes {
absl::Status EliminateNopFlatten(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, const ir::Node& node) {
    return node.op == "Flatten" && rewriter.Bypass(node);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
