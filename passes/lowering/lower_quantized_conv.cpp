#include "passes/lowering/lower_quantized_conv.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "passes/constant_values.hpp"
#include "passes/lowering/block_quantized.hpp"
#include "passes/lowering/byte_weights.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/quantization_parameters.hpp"
#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

// ---- Signed activations ----------------------------------------------------------------------

constexpr double kMoved = 128;

bool HasOneParameter(const Graph& graph, const Node& node) {
  return QuantizationParametersOf(graph, node).has_value() && !node.attributes.has("output_dtype");
}

/// The node's zero point for numbers that are larger by 128.
void MovePoint(Graph& graph, Node& node) {
  const double point = QuantizationParametersOf(graph, node)->point + kMoved;
  const TensorType type{ElementType::kUint8, graph.type(node.inputs[1]).shape};
  const std::vector<double> points(static_cast<std::size_t>(ElementCount(type.shape)), point);
  node.inputs.resize(3, ir::kAbsent);
  node.inputs[2] = graph.AddConstant(node.name + "_point", FromDoubles(type, points));
}

/// What is quantised to int8 and only dequantised again is uint8 instead.
void MakeUnsigned(Graph& graph) {
  const ir::Uses uses(graph);
  for (Node& quantize : graph.nodes) {
    if (quantize.op != "QuantizeLinear") continue;
    const ValueId bytes = quantize.outputs[0];
    if (graph.type(bytes).element != ElementType::kInt8 || uses.is_output(bytes)) continue;
    const auto& readers = uses.consumers(bytes);
    const bool all_dequantize = std::ranges::all_of(readers, [&](auto position) {
      const Node& reader = graph.nodes[static_cast<std::size_t>(position)];
      return reader.op == "DequantizeLinear" && HasOneParameter(graph, reader);
    });
    if (!all_dequantize || !HasOneParameter(graph, quantize)) continue;
    graph.value(bytes).type.element = ElementType::kUint8;
    MovePoint(graph, quantize);
    for (const auto position : readers) {
      MovePoint(graph, graph.nodes[static_cast<std::size_t>(position)]);
    }
  }
}

// ---- Convolutions ----------------------------------------------------------------------------

/// The largest magnitude that the sum of a channel can have without its bias.
std::int64_t LargestSum(const Tensor& integers, std::size_t channel) {
  constexpr std::int64_t kLargestByte = 255;
  const auto products = static_cast<std::size_t>(integers.count() / integers.shape()[0]);
  std::int64_t sum = 0;
  for (const std::int8_t w : integers.as<std::int8_t>().subspan(channel * products, products)) {
    sum += std::abs(std::int64_t{w});
  }
  return kLargestByte * sum;
}

/// The bias in units of the sums; nothing where it has no such form, or sums might not have one of
/// 32 bits.
std::optional<Tensor> IntegerBias(const Graph& graph, const Node& conv, const ByteWeights& weights,
                                  double x_scale, double y_scale) {
  const std::size_t outs = weights.scales.size();
  Tensor bias({ElementType::kInt32, {static_cast<std::int64_t>(outs)}});
  std::vector<double> values(outs);
  if (HasInput(conv, kBiasInput)) {
    const Tensor* floats = graph.ConstantOf(conv.inputs[kBiasInput]);
    if (floats == nullptr) return {};
    values = ToDoubles(*floats);
  }
  for (std::size_t o = 0; o < outs; ++o) {
    const double unit = x_scale * static_cast<double>(weights.scales[o]);
    const double units = std::nearbyint(values[o] / unit);
    const double sum = std::abs(units) + static_cast<double>(LargestSum(weights.integers, o));
    constexpr double kLeastStep = 1.0 / 64;  // of the result, which a bias may be off
    // Written so that NaN is refused.
    if (!(sum <= std::numeric_limits<std::int32_t>::max())) return {};
    if (!(std::abs(values[o] - units * unit) <= kLeastStep * y_scale)) return {};
    bias.as_mutable<std::int32_t>()[o] = static_cast<std::int32_t>(units);
  }
  return bias;
}

bool Lower(Rewriter& rewriter, Node& node) {
  Graph& graph = rewriter.graph();
  if (node.op != "QuantizeLinear") return false;
  const auto to = QuantizationParametersOf(graph, node);
  if (!to || graph.type(node.inputs[0]).element != ElementType::kFloat32) return false;
  const ValueId sums = BeforeCutOff(rewriter, node, *to);
  const Node* conv = rewriter.UsedOnlyBy(1, sums) ? rewriter.Producer(sums, "Conv") : nullptr;
  if (conv == nullptr) return false;
  const Node* dequantize = rewriter.Producer(conv->inputs[0], "DequantizeLinear");
  const auto from =
      dequantize == nullptr ? std::nullopt : QuantizationParametersOf(graph, *dequantize);
  if (!from) return false;
  const TensorType& x = graph.type(dequantize->inputs[0]);
  const TensorType& y = graph.type(node.outputs[0]);
  if (!HasByteForm(x, graph.type(conv->inputs[1]).shape, y, conv->attributes)) return false;
  constexpr double kUnitsOfStep = 1024;
  const auto of_zeros = static_cast<float>(to->scale / from->scale / kUnitsOfStep);
  const Tensor* floats = graph.ConstantOf(conv->inputs[1]);
  if (floats == nullptr) return false;
  const auto weights = ByteWeightsOf(*floats, /*channels_first=*/true, of_zeros);
  if (!weights) return false;
  const auto bias = IntegerBias(graph, *conv, *weights, from->scale, to->scale);
  if (!bias) return false;

  const auto constant = [&](const char* what, Tensor tensor) {
    return rewriter.AddConstant(conv->name + what, std::move(tensor));
  };
  const auto number = [&](const char* what, ElementType element, double value) {
    return constant(what, FromDoubles({element, {}}, {{value}}));
  };
  const std::int64_t outs = weights->integers.shape()[0];
  node.inputs = {
      dequantize->inputs[0],
      number("_x_scale", ElementType::kFloat32, from->scale),
      number("_x_point", ElementType::kUint8, from->point),
      constant("_weights", weights->integers),
      constant("_w_scales", Tensor({ElementType::kFloat32, {outs}}, weights->scales.data())),
      constant("_w_points", Tensor({ElementType::kInt8, {outs}})),
      number("_y_scale", ElementType::kFloat32, to->scale),
      number("_y_point", ElementType::kUint8, to->point),
      constant("_bias", *bias)};
  node.op = "QLinearConv";
  node.attributes = conv->attributes;
  return true;
}

}  // namespace

absl::Status LowerQuantizedConv(ir::Graph& graph, const PassContext&) {
  try {
    MakeUnsigned(graph);
    Rewrite(graph, Lower);
  } catch (const std::runtime_error& error) {
    return absl::InvalidArgumentError(error.what());
  }
  return absl::OkStatus();
}

}  // namespace poprt::passes
