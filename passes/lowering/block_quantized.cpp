#include "passes/lowering/block_quantized.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "passes/constant_values.hpp"
#include "passes/lowering/blocked_operator.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/quantization_parameters.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels.hpp"
#include "runtime/kernels/quantized/pack_byte_weights.hpp"
#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/quantized/requantizer.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::passes {
namespace {

using ir::Graph;
using ir::Node;

using In = kernels::QLinearConvInput;

bool IsByteImage(const TensorType& type) {
  constexpr std::size_t kImageRank = 4;
  return type.element == ElementType::kUint8 && type.shape.size() == kImageRank &&
         ElementCount(type.shape) > 0;
}

/// Whether every input of the convolution but the image is a constant that the kernels take.
bool HasConstantParameters(const Graph& graph, const Node& conv) {
  for (std::size_t i = In::kXScale; i < conv.inputs.size(); ++i) {
    if (HasInput(conv, i) && graph.ConstantOf(conv.inputs[i]) == nullptr) return false;
  }
  for (const std::size_t one : {In::kXScale, In::kXPoint, In::kYScale, In::kYPoint}) {
    if (graph.ConstantOf(conv.inputs[one])->count() != 1) return false;
  }
  const Tensor& weights = *graph.ConstantOf(conv.inputs[In::kW]);
  const double middle = weights.element() == ElementType::kUint8 ? 128 : 0;
  return weights.count() > 0 && UniformValue(graph, conv.inputs[In::kWPoint]) == middle;
}

/// The weights as signed numbers around zero.
Tensor SignedWeights(const Tensor& weights) {
  std::vector<double> values = ToDoubles(weights);
  if (weights.element() == ElementType::kUint8) {
    for (double& value : values) value -= 128;
  }
  return FromDoubles({ElementType::kInt8, weights.shape()}, values);
}

/// What is added to the sums of each channel: the bias, and what the zero point of the image takes.
Tensor BasesOf(const Tensor& weights, double x_point, const std::vector<double>& bias,
               std::int64_t lanes) {
  const std::vector<double> values = ToDoubles(weights);
  const auto outs = static_cast<std::size_t>(weights.shape()[0]);
  const std::size_t products = values.size() / outs;
  Tensor bases({ElementType::kInt32, {lanes}});
  for (std::size_t o = 0; o < static_cast<std::size_t>(lanes); ++o) {
    std::int64_t sum = 0;
    for (std::size_t i = o * products; o < outs && i < (o + 1) * products; ++i) {
      sum += static_cast<std::int64_t>(values[i]);
    }
    const std::int64_t base = (o < outs ? static_cast<std::int64_t>(bias[o]) : 0) -
                              static_cast<std::int64_t>(x_point) * sum;
    reinterpret_cast<std::int32_t*>(bases.mutable_data())[o] = static_cast<std::int32_t>(base);
  }
  return bases;
}

/// From sums to units of the result, see byte_conv2d.hpp; nothing where only these are infinite.
std::optional<Tensor> FactorsOf(double x_scale, const std::vector<double>& w_scales, double y_scale,
                                std::int64_t lanes) {
  std::vector<double> factors;
  for (const double w_scale : w_scales) {
    const double factor =
        kernels::ProductFactor(ElementType::kFloat32, static_cast<float>(x_scale),
                               static_cast<float>(w_scale), static_cast<float>(y_scale));
    const double units = factor * kernels::kByteUnit;
    if (std::isfinite(factor) && units > std::numeric_limits<float>::max()) return {};
    factors.push_back(units);
  }
  factors.resize(static_cast<std::size_t>(lanes));
  return FromDoubles({ElementType::kFloat32, {lanes}}, factors);
}

}  // namespace

bool HasByteForm(const TensorType& x, const Shape& w, const TensorType& y,
                 const Attributes& attributes) {
  if (!IsByteImage(x) || !IsByteImage(y) || w.size() != x.shape.size()) return false;
  const std::int64_t group = attributes.get_int("group", 1);
  if (group == 1) return y.shape[1] >= kFewestChannels;
  const Shape& s = x.shape;
  const kernels::Window window = kernels::ResolveWindow(attributes, {s[2], s[3]}, {w[2], w[3]});
  return group == s[1] && group == y.shape[1] && window.dilations == Ints({1, 1});
}

bool BlockQLinearConv(Rewriter& rewriter, Node& conv) {
  const Graph& graph = rewriter.graph();
  const TensorType y = graph.type(conv.outputs[0]);
  if (!HasByteForm(graph.type(conv.inputs[In::kX]), graph.type(conv.inputs[In::kW]).shape, y,
                   conv.attributes) ||
      !HasConstantParameters(graph, conv)) {
    return false;
  }
  const std::int64_t outs = y.shape[1];
  const auto number = [&](std::size_t i) {
    return ToDoubles(*graph.ConstantOf(conv.inputs[i])).front();
  };
  const Tensor weights = SignedWeights(*graph.ConstantOf(conv.inputs[In::kW]));
  const auto scales = AlongAxis(graph, conv.inputs[In::kWScale], outs, 0);
  std::vector<double> bias(static_cast<std::size_t>(outs));
  if (HasInput(conv, In::kBias)) bias = ToDoubles(*graph.ConstantOf(conv.inputs[In::kBias]));
  if (!scales || bias.size() != static_cast<std::size_t>(outs)) return false;

  const std::int64_t lanes = BlockedType(y).shape[1] * kBlock;
  const std::int64_t in_channels = graph.type(conv.inputs[In::kX]).shape[1];
  const Tensor bases = BasesOf(weights, number(In::kXPoint), bias, lanes);
  const auto factors = FactorsOf(number(In::kXScale), *scales, number(In::kYScale), lanes);
  if (!factors) return false;
  Attributes attributes = conv.attributes;
  attributes.set("in_channels", in_channels);
  attributes.set("out_channels", outs);
  attributes.set("kernel_shape", Ints{weights.shape()[2], weights.shape()[3]});
  attributes.set("x_point", static_cast<std::int64_t>(number(In::kXPoint)));
  attributes.set("y_point", static_cast<std::int64_t>(number(In::kYPoint)));
  const ir::ValueId image = conv.inputs[In::kX];
  const bool reads_planes = conv.attributes.get_int("group", 1) == 1 &&
                            in_channels <= kernels::kMostBytePlanes && !IsBlocked(rewriter, image);
  std::vector<ir::ValueId> inputs{reads_planes ? image : Block(rewriter, image),
                                  rewriter.AddConstant(conv.name + "_weights", weights),
                                  rewriter.AddConstant(conv.name + "_bases", bases),
                                  rewriter.AddConstant(conv.name + "_factors", *factors)};
  BecomeUnblocked(rewriter, conv, "BlockedByteConv", std::move(inputs), std::move(attributes));
  return true;
}

bool BlockBytes(Rewriter& rewriter, Node& node) {
  if (node.outputs.size() > 1 || !IsByteImage(rewriter.graph().type(node.outputs[0]))) return false;
  if (std::ranges::none_of(node.inputs, [&](auto id) { return IsBlocked(rewriter, id); })) {
    return false;
  }
  std::vector<ir::ValueId> inputs;
  for (const ir::ValueId id : node.inputs) inputs.push_back(Block(rewriter, id));
  const char* const op = node.op == "MaxPool" ? "BlockedByteMaxPool" : "ByteAdd";
  BecomeUnblocked(rewriter, node, op, std::move(inputs), node.attributes);
  return true;
}

bool BlockQuantization(Rewriter& rewriter, Node& node) {
  const Graph& graph = rewriter.graph();
  const bool quantizes = node.op == "QuantizeLinear";
  const TensorType& bytes = graph.type(quantizes ? node.outputs[0] : node.inputs[0]);
  const TensorType& floats = graph.type(quantizes ? node.inputs[0] : node.outputs[0]);
  if (!IsByteImage(bytes) || !CanBlock(floats) || !IsBlocked(rewriter, node.inputs[0])) {
    return false;
  }
  // What stands in spare lanes must stay finite.
  constexpr double kLargestScale = 1e30;
  const auto parameters = QuantizationParametersOf(graph, node);
  if (!parameters || parameters->scale > kLargestScale) return false;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (HasInput(node, i) && ElementCount(graph.type(node.inputs[i]).shape) != 1) return false;
  }
  std::vector<ir::ValueId> inputs = node.inputs;
  inputs[0] = Block(rewriter, inputs[0]);
  BecomeUnblocked(rewriter, node, std::string(node.op), std::move(inputs), node.attributes);
  return true;
}

}  // namespace poprt::passes
