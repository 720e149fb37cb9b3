#include "passes/conversion/replace_pow.hpp"

#include "passes/constant_values.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
absl::Status ReplacePow(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "Pow" || UniformValue(rewriter.graph(), node.inputs[1]) != 2.0) return false;
    const ir::Graph& g = rewriter.graph();
    if (g.type(node.outputs[0]) != g.type(node.inputs[0])) return false;
    node.op = "Mul";
    node.inputs[1] = node.inputs[0];
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
