#include "passes/conversion/eliminate_nop_cast.hpp"

#include "passes/rewrite.hpp"

namespace poprt::passes {
absl::Status EliminateNopCast(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, const ir::Node& node) {
    return node.op == "Cast" && rewriter.Bypass(node);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
