#include "passes/conversion/fuse_bn_into_conv.hpp"

#include <utility>
#include <vector>

#include "passes/constant_values.hpp"
#include "passes/conversion/channel_affine.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

/// The output channel of every plane of weights: [O, ...] of a Conv, [C, O / group, ...] of a
/// ConvTranspose.
std::size_t ChannelOf(std::size_t plane, const ir::Node& conv, const Shape& weights) {
  if (conv.op == "Conv") return plane / static_cast<std::size_t>(weights[1]);
  const auto group = static_cast<std::size_t>(conv.attributes.get_int("group", 1));
  const auto channels = static_cast<std::size_t>(weights[1]);
  const std::size_t inputs_of_group = static_cast<std::size_t>(weights[0]) / group;
  return plane / channels / inputs_of_group * channels + plane % channels;
}

/// Weights times one factor for each output channel.
Tensor Scaled(const Tensor& weights, const ir::Node& conv, const std::vector<double>& factors) {
  std::vector<double> values = ToDoubles(weights);
  const auto planes = static_cast<std::size_t>(weights.shape()[0] * weights.shape()[1]);
  const std::size_t plane = planes == 0 ? 1 : values.size() / planes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] *= factors[ChannelOf(i / plane, conv, weights.shape())];
  }
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
    const auto affine = ChannelAffineOf(rewriter.graph(), node);
    if (!affine) return false;
    const BatchNormFactors& factors = affine->factors;
    ir::Node* conv = rewriter.Producer(affine->x);
    if (conv == nullptr || (conv->op != "Conv" && conv->op != "ConvTranspose")) return false;
    if (!rewriter.UsedOnlyBy(1, conv->outputs[0])) return false;
    const Tensor* weights = rewriter.graph().ConstantOf(conv->inputs[1]);
    const bool has_bias = conv->inputs.size() > 2 && conv->inputs[2] != ir::kAbsent;
    const Tensor* bias = has_bias ? rewriter.graph().ConstantOf(conv->inputs[2]) : nullptr;
    if (weights == nullptr || (has_bias && bias == nullptr)) return false;

    const Tensor scaled = Scaled(*weights, *conv, factors.scale);
    const Tensor shifted = Shifted(bias, factors, weights->element());
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
