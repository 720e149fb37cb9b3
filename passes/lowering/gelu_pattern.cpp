#include "passes/lowering/gelu_pattern.hpp"

#include <cmath>
#include <numbers>

#include "passes/constant_values.hpp"
#include "passes/lowering/product.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

constexpr double kCubic = 0.044715;

/// `id` is 0.044715 * x^power.
bool IsCubicTerm(Rewriter& rewriter, ir::ValueId id, ir::ValueId x, std::size_t power) {
  const Product term = ProductOf(rewriter, id);
  return term.factors == std::vector<ir::ValueId>(power, x) &&
         IsNear(term.constant, kCubic, rewriter.graph().type(x).element);
}

/// `id` is x + 0.044715 * x^3.
bool IsPolynomial(Rewriter& rewriter, ir::ValueId id, ir::ValueId x) {
  const ir::Node* add = rewriter.Producer(id, "Add");
  if (add == nullptr || !rewriter.UsedOnlyBy(1, id)) return false;
  return (add->inputs[0] == x && IsCubicTerm(rewriter, add->inputs[1], x, 3)) ||
         (add->inputs[1] == x && IsCubicTerm(rewriter, add->inputs[0], x, 3));
}

/// `sum` is 1 + Tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)).
bool IsTanhOfPolynomial(Rewriter& rewriter, ir::ValueId sum, ir::ValueId x) {
  const auto added = AddedToOne(rewriter, sum);
  if (!added || !rewriter.UsedOnlyBy(1, *added)) return false;
  const ir::Node* tanh = rewriter.Producer(*added, "Tanh");
  if (tanh == nullptr) return false;
  const Product argument = ProductOf(rewriter, tanh->inputs[0]);
  const double scale = std::sqrt(2 / std::numbers::pi);
  if (!IsNear(argument.constant, scale, rewriter.graph().type(x).element)) return false;
  if (argument.factors.size() == 1) return IsPolynomial(rewriter, argument.factors[0], x);
  const auto other = OtherFactor(argument, x);
  const auto term = other ? AddedToOne(rewriter, *other) : std::nullopt;
  return term && IsCubicTerm(rewriter, *term, x, 2);
}

}  // namespace

absl::Status GeluPattern(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "Mul" && node.op != "Div") return false;
    const Product product = ProductOf(rewriter, node);
    const TensorType& type = rewriter.graph().type(node.outputs[0]);
    if (!IsNear(product.constant, 0.5, type.element)) return false;
    for (const ir::ValueId x : product.factors) {
      const auto sum = OtherFactor(product, x);
      if (!sum || rewriter.graph().type(x) != type) continue;
      if (!IsTanhOfPolynomial(rewriter, *sum, x)) continue;
      node.op = "Gelu";
      node.inputs = {x};
      node.attributes = {{"approximate", "tanh"}};
      return true;
    }
    return false;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
