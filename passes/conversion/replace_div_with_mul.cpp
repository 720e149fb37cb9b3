#include "passes/conversion/replace_div_with_mul.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "passes/constant_values.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

/// A power of two whose reciprocal is a normal number even in float16.
bool HasExactReciprocal(double value) {
  int exponent = 0;
  constexpr int kMostForHalf = 14;
  return std::abs(std::frexp(value, &exponent)) == 0.5 && std::abs(exponent - 1) <= kMostForHalf;
}

}  // namespace

absl::Status ReplaceDivWithMul(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    if (node.op != "Div") return false;
    const Tensor* divisor = rewriter.graph().ConstantOf(node.inputs[1]);
    if (divisor == nullptr || !IsFloat(divisor->element())) return false;
    std::vector<double> values = ToDoubles(*divisor);
    if (!std::ranges::all_of(values, HasExactReciprocal)) return false;
    for (double& value : values) value = 1 / value;
    node.op = "Mul";
    node.inputs[1] =
        rewriter.AddConstant(rewriter.graph().value(node.inputs[1]).name + "_reciprocal",
                             FromDoubles(divisor->type(), values));
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
