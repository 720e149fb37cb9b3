#include "passes/lowering/erf_gelu_pattern.hpp"

#include <numbers>

#include "passes/constant_values.hpp"
#include "passes/lowering/product.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

/// `sum` is 1 + Erf(x / sqrt(2)).
bool IsErfOfScaled(Rewriter& rewriter, ir::ValueId sum, ir::ValueId x) {
  const auto added = AddedToOne(rewriter, sum);
  if (!added || !rewriter.UsedOnlyBy(1, *added)) return false;
  const ir::Node* erf = rewriter.Producer(*added, "Erf");
  if (erf == nullptr) return false;
  const Product scaled = ProductOf(rewriter, erf->inputs[0]);
  return scaled.factors == std::vector<ir::ValueId>{x} &&
         IsNear(scaled.constant, 1 / std::numbers::sqrt2, rewriter.graph().type(x).element);
}

}  // namespace

absl::Status ErfGeluPattern(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "Mul" && node.op != "Div") return false;
    const Product product = ProductOf(rewriter, node);
    const TensorType& type = rewriter.graph().type(node.outputs[0]);
    if (!IsNear(product.constant, 0.5, type.element)) return false;
    for (const ir::ValueId x : product.factors) {
      const auto sum = OtherFactor(product, x);
      if (!sum || rewriter.graph().type(x) != type || !IsErfOfScaled(rewriter, *sum, x)) continue;
      node.op = "Gelu";
      node.inputs = {x};
      node.attributes = {{"approximate", "none"}};
      return true;
    }
    return false;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
