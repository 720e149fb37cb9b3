#include "passes/fuse_bn_into_conv.hpp"

#include <utility>
#include <vector>

#include "passes/batch_norm_factors.hpp"
#include "passes/constant_values.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

/// Weights [C, ...] times one factor for each of the C output channels.
Tensor Scaled(const Tensor& weights, const std::vector<double>& factors) {
  std::vector<double> values = ToDoubles(weights);
  const std::size_t per_channel = values.size() / factors.size();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= factors[i / per_channel];
  return FromDoubles(weights.type(), values);
}

Tensor Shifted(const Tensor* bias, const BatchNormFactors& factors, ElementType element) {
  std::vector<double> values = factors.shift;
  if (bias != nullptr) {
    const std::vector<double> before = ToDoubles(*bias);
    for (std::size_t c = 0; c < values.size(); ++c) values[c] += before[c] * factors.scale[c];
  }
  return FromDoubles({element, {static_cast<std::int64_t>(values.size())}}, values);
}

}  // namespace

absl::Status FuseBnIntoConv(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, [](Rewriter& rewriter, ir::Node& node) {
    const auto factors = BatchNormFactorsOf(rewriter.graph(), node);
    if (!factors) return false;
    ir::Node* conv = rewriter.Producer(node.inputs[0], "Conv");
    if (conv == nullptr || !rewriter.UsedOnlyBy(1, conv->outputs[0])) return false;
    const Tensor* weights = rewriter.graph().ConstantOf(conv->inputs[1]);
    const bool has_bias = conv->inputs.size() > 2 && conv->inputs[2] != ir::kAbsent;
    const Tensor* bias = has_bias ? rewriter.graph().ConstantOf(conv->inputs[2]) : nullptr;
    if (weights == nullptr || (has_bias && bias == nullptr)) return false;

    const Tensor scaled = Scaled(*weights, factors->scale);
    const Tensor shifted = Shifted(bias, *factors, weights->element());
    node.inputs = {conv->inputs[0], rewriter.AddConstant(conv->name + "_weights", scaled),
                   rewriter.AddConstant(conv->name + "_bias", shifted)};
    node.op = conv->op;
    node.attributes = conv->attributes;
    std::swap(node.name, conv->name);
    return true;
  });
  return absl::OkStatus();
}

}  // namespace poprt::passes
