#include "passes/fuse_consecutive_reshape.hpp"

#include <string_view>

#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

bool OnlyReshapes(std::string_view op) {
  return op == "Reshape" || op == "Flatten" || op == "Squeeze" || op == "Unsqueeze";
}

}  // namespace

absl::Status FuseConsecutiveReshape(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "Reshape") return false;
    const ir::Node* inner = rewriter.Producer(node.inputs[0]);
    if (inner == nullptr || !OnlyReshapes(inner->op)) return false;
    const Shape& shape = rewriter.graph().type(node.outputs[0]).shape;
    if (ElementCount(shape) == 0) return false;  // a written 0 would mean "as in the input"
    node.inputs[0] = inner->inputs[0];
    node.attributes.set("shape", shape);
    node.attributes.erase("allowzero");
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
