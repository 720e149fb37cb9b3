#include "passes/conversion/replace_sum_with_add.hpp"

#include "passes/rewrite.hpp"

namespace poprt::passes {
absl::Status ReplaceSumWithAdd(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    ir::Graph& g = rewriter.graph();
    if (node.op != "Sum" || node.inputs.size() < 2) return false;
    const ElementType element = g.type(node.outputs[0]).element;
    if (node.inputs.size() > 2 && element != ElementType::kFloat32) return false;
    ir::ValueId sum = node.inputs[0];
    for (std::size_t i = 1; i + 1 < node.inputs.size(); ++i) {
      const auto shape = Broadcast(g.type(sum).shape, g.type(node.inputs[i]).shape);
      sum = rewriter.Insert(
          g.MakeNode("Add", {sum, node.inputs[i]}, {element, *shape}, {}, node.name));
    }
    node.op = "Add";
    node.inputs = {sum, node.inputs.back()};
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
