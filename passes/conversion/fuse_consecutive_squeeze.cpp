#include "passes/conversion/fuse_consecutive_squeeze.hpp"

#include "passes/rewrite.hpp"
#include "passes/selected_axes.hpp"

namespace poprt::passes {
absl::Status FuseConsecutiveSqueeze(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "Squeeze") return false;
    const ir::Node* inner = rewriter.Producer(node.inputs[0], "Squeeze");
    if (inner == nullptr) return false;
    const ir::Graph& g = rewriter.graph();
    node.attributes.set("axes", AxesOf(Combine(SqueezedAxes(g, *inner), SqueezedAxes(g, node))));
    node.inputs[0] = inner->inputs[0];
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
