#include "passes/conversion/replace_bn_with_mul_add.hpp"

#include "passes/constant_values.hpp"
#include "passes/conversion/batch_norm_factors.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
absl::Status ReplaceBnWithMulAdd(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    const auto factors = BatchNormFactorsOf(rewriter.graph(), node);
    const TensorType type = rewriter.graph().type(node.outputs[0]);
    if (!factors || type.shape.size() < 2) return false;
    Shape per_channel(type.shape.size() - 1, 1);
    per_channel.front() = static_cast<std::int64_t>(factors->scale.size());
    const auto constant = [&](const std::vector<double>& values, const char* suffix) {
      return rewriter.AddConstant(node.name + suffix,
                                  FromDoubles({type.element, per_channel}, values));
    };
    const ir::ValueId scale = constant(factors->scale, "_scale");
    const ir::ValueId shift = constant(factors->shift, "_shift");
    const ir::ValueId scaled = rewriter.Insert(
        rewriter.graph().MakeNode("Mul", {node.inputs[0], scale}, type, {}, node.name + "_mul"));
    node.op = "Add";
    node.inputs = {scaled, shift};
    node.attributes = {};
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
