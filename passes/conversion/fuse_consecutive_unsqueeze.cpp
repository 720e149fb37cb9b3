#include "passes/conversion/fuse_consecutive_unsqueeze.hpp"

#include "passes/rewrite.hpp"
#include "passes/selected_axes.hpp"

namespace poprt::passes {
absl::Status FuseConsecutiveUnsqueeze(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "Unsqueeze") return false;
    const ir::Node* inner = rewriter.Producer(node.inputs[0], "Unsqueeze");
    if (inner == nullptr) return false;
    const ir::Graph& g = rewriter.graph();
    // Seen from the result: the later axes are new, the earlier ones stand between them.
    node.attributes.set("axes",
                        AxesOf(Combine(UnsqueezedAxes(g, node), UnsqueezedAxes(g, *inner))));
    node.inputs[0] = inner->inputs[0];
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
