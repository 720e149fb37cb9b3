#include "passes/conversion/fuse_consecutive_reshape.hpp"

#include <algorithm>
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
    Shape shape = rewriter.graph().type(node.outputs[0]).shape;
    if (ElementCount(shape) == 0) return false;  // a written 0 would mean "as in the input"
    // What the model leaves open may be an extent that depends on data.
    const Ints wanted = node.attributes.get_ints("shape");
    const auto open = std::find(wanted.begin(), wanted.end(), -1);
    if (open != wanted.end()) shape[static_cast<std::size_t>(open - wanted.begin())] = -1;
    node.inputs[0] = inner->inputs[0];
    node.attributes.set("shape", shape);
    node.attributes.erase("allowzero");
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
