#include "passes/conversion/eliminate_nop_reshape.hpp"

#include "passes/rewrite.hpp"

namespace poprt::passes {
absl::Status EliminateNopReshape(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, const ir::Node& node) {
    const bool reshapes = node.op == "Reshape" || node.op == "Squeeze" || node.op == "Unsqueeze";
    return reshapes && rewriter.Bypass(node);
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
