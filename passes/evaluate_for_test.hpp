#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.hpp"
#include "passes/constant_values.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/lower_to_integer_matmul.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/quantized/pack_byte_weights.hpp"

/// A tiny interpreter: generic kernels, node by node. Fused operators are taken apart.
namespace poprt::passes {

class Evaluator {
 public:
  /// The outputs of the graph for these inputs.
  static std::vector<Tensor> Run(const ir::Graph& graph, const std::vector<Tensor>& inputs) {
    Evaluator evaluator(graph);
    for (std::size_t i = 0; i < inputs.size(); ++i) evaluator.values_[graph.inputs[i]] = inputs[i];
    for (const ir::Node& node : graph.nodes) evaluator.Step(node);
    std::vector<Tensor> outputs;
    for (ir::ValueId id : graph.outputs) outputs.push_back(evaluator.Get(id));
    return outputs;
  }

 private:
  explicit Evaluator(const ir::Graph& graph) : graph_(graph) {}

  Tensor Get(ir::ValueId id) const {
    if (id == ir::kAbsent) return {};
    const Tensor* constant = graph_.ConstantOf(id);
    return constant != nullptr ? *constant : values_.at(id);
  }

  static Tensor One(std::string_view op, const std::vector<Tensor>& inputs, const TensorType& type,
                    const Attributes& attributes = {}) {
    return kernels::RunOnce(op, inputs, {type}, attributes).front();
  }

  void Step(const ir::Node& node) {
    std::vector<Tensor> inputs;
    for (ir::ValueId id : node.inputs) inputs.push_back(Get(id));
    const TensorType& type = graph_.type(node.outputs[0]);
    if (node.op == "BatchMatMul") {
      values_[node.outputs[0]] = BatchMatMul(node, inputs, type);
    } else if (node.op == "FusedMatMul" || node.op == "FusedConv") {
      values_[node.outputs[0]] = Fused(node, inputs, type);
    } else if (node.op == "IntegerMatMul") {
      values_[node.outputs[0]] = IntegerMatMul(node, inputs, type);
    } else if (node.op == "BlockedConv") {
      values_[node.outputs[0]] = Blocked(node, inputs, type);
    } else if (node.op == "BlockedPointwiseDepthwise") {
      values_[node.outputs[0]] = PointwiseDepthwise(node, inputs, type);
    } else if (node.op == "BlockedByteConv") {
      values_[node.outputs[0]] = BlockedByteConv(node, inputs, type);
    } else {
      std::vector<TensorType> types;
      for (ir::ValueId id : node.outputs) {
        types.push_back(id == ir::kAbsent ? TensorType{} : graph_.type(id));
      }
      static const std::map<std::string, std::string> kKernels{
          {"BlockChannels", "block_channels"},
          {"BlockedAveragePool", "blocked_average_pool"},
          {"BlockedByteMaxPool", "blocked_byte_max_pool"},
          {"BlockedDynamicConv", "blocked_conv2d"},
          {"BlockedDynamicDepthwiseConv", "blocked_depthwise_conv2d"},
          {"BlockedLRN", "blocked_lrn"},
          {"BlockedMaxPool", "blocked_max_pool"},
          {"BlockedMoments", "blocked_moments"},
          {"ByteAdd", "add_bytes"},
          {"FusedAttention", "attention"},
          {"FusedElementwise", "fused_elementwise"},
          {"FusedNorm", "norm_rows"},
          {"JoinChannels", "join_channels"},
          {"SubpixelShuffle", "subpixel_shuffle"},
          {"UnblockChannels", "unblock_channels"}};
      const auto named = kKernels.find(node.op);
      const std::string kernel = named == kKernels.end() ? node.op : named->second;
      const std::vector<Tensor> results = kernels::RunOnce(kernel, inputs, types, node.attributes);
      for (std::size_t i = 0; i < results.size(); ++i) values_[node.outputs[i]] = results[i];
    }
  }

  static Tensor Transposed(const Tensor& tensor) {
    Shape shape = tensor.shape();
    Ints perm;
    for (std::size_t i = 0; i < shape.size(); ++i) perm.push_back(static_cast<std::int64_t>(i));
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    std::swap(perm[shape.size() - 1], perm[shape.size() - 2]);
    return One("Transpose", {tensor}, {tensor.element(), shape}, {{"perm", perm}});
  }

  static Tensor MatMul(const ir::Node& node, const std::vector<Tensor>& inputs,
                       const TensorType& type) {
    const bool trans_b = node.attributes.get_int("trans_b", 0) != 0;
    return One("MatMul", {inputs[0], trans_b ? Transposed(inputs[1]) : inputs[1]}, type);
  }

  static Tensor BatchMatMul(const ir::Node& node, const std::vector<Tensor>& inputs,
                            const TensorType& type) {
    const auto scale = static_cast<double>(node.attributes.get_float("scale", 1));
    const Tensor factor = FromDoubles({type.element, {}}, std::vector<double>{scale});
    return One("Mul", {MatMul(node, inputs, type), factor}, type);
  }

  static Tensor IntegerMatMul(const ir::Node& node, const std::vector<Tensor>& inputs,
                              const TensorType& type) {
    const std::size_t operands = std::min<std::size_t>(inputs.size(), kIntegerScales);
    const auto end = inputs.begin() + static_cast<std::ptrdiff_t>(operands);
    Tensor result = One("MatMulInteger", {inputs.begin(), end}, {ElementType::kInt32, type.shape});
    if (type.element == ElementType::kInt32) return result;
    const TensorType floats{ElementType::kFloat32, type.shape};
    result = One("Cast", {result}, floats);
    if (HasInput(node, kIntegerScales))
      result = One("Mul", {result, inputs[kIntegerScales]}, floats);
    if (HasInput(node, kIntegerBias)) result = One("Add", {result, inputs[kIntegerBias]}, floats);
    if (type.element == ElementType::kFloat32) return result;
    const auto scale = static_cast<double>(node.attributes.get_float("y_scale", 0));
    const auto point = static_cast<double>(node.attributes.get_int("y_point", 0));
    return One("QuantizeLinear",
               {result, FromDoubles({ElementType::kFloat32, {}}, {{scale}}),
                FromDoubles({type.element, {}}, {{point}})},
               type);
  }

  static Tensor Fused(const ir::Node& node, const std::vector<Tensor>& inputs,
                      const TensorType& type) {
    Tensor result;
    const auto given = [&](std::size_t i) { return HasInput(node, i); };
    if (node.op == "FusedConv") {
      Attributes attributes = node.attributes;
      for (const char* name : {"activation", "min", "max", "alpha"}) attributes.erase(name);
      std::vector<Tensor> operands = {inputs[0], inputs[1]};
      if (given(kBiasInput)) operands.push_back(inputs[kBiasInput]);
      result = One("Conv", operands, type, attributes);
    } else {
      result = MatMul(node, inputs, type);
      if (given(kBiasInput)) result = One("Add", {result, inputs[kBiasInput]}, type);
    }
    if (given(kResidualInput)) result = One("Add", {result, inputs[kResidualInput]}, type);
    return Activate(node.attributes, result);
  }

  static Tensor Unblocked(const Tensor& x, std::int64_t channels) {
    const Shape& s = x.shape();
    if (s.size() == 4) return x;
    return One("unblock_channels", {x}, {x.element(), {s[0], channels, s[2], s[3]}},
               {{"channels", channels}});
  }

  /// The fused operator between two conversions.
  static Tensor Blocked(ir::Node node, std::vector<Tensor> inputs, const TensorType& type) {
    const std::int64_t channels = node.attributes.get_int("out_channels", 0);
    inputs[0] = Unblocked(inputs[0], node.attributes.get_int("in_channels", 0));
    if (const Ints order = node.attributes.get_ints("channel_order"); !order.empty()) {
      const Tensor indices =
          FromDoubles({ElementType::kInt64, {static_cast<std::int64_t>(order.size())}},
                      std::vector<double>(order.begin(), order.end()));
      inputs[0] =
          One("Gather", {inputs[0], indices}, inputs[0].type(), {{"axis", std::int64_t{1}}});
    }
    if (HasInput(node, kResidualInput)) {
      inputs[kResidualInput] = Unblocked(inputs[kResidualInput], channels);
    }
    node.op = "FusedConv";
    const bool channels_last = node.attributes.get_int("channels_last", 0) != 0;
    for (const char* name : {"in_channels", "out_channels", "winograd_tile", "short_weights",
                             "channel_order", "channels_last"}) {
      node.attributes.erase(name);
    }
    const Shape& s = type.shape;
    const std::size_t height = channels_last ? 1 : 2;
    const Tensor plain =
        Fused(node, inputs, {type.element, {s[0], channels, s[height], s[height + 1]}});
    if (channels_last) return One("Transpose", {plain}, type, {{"perm", Ints{0, 2, 3, 1}}});
    return One("block_channels", {plain}, type);
  }

  /// One convolution after the other.
  static Tensor PointwiseDepthwise(const ir::Node& node, const std::vector<Tensor>& inputs,
                                   const TensorType& type) {
    ir::Node first = node;
    ir::Node second = node;
    first.inputs.resize(kBiasInput + 1);
    second.inputs = {node.inputs[0], node.inputs[3]};
    if (node.inputs.size() > 4) second.inputs.push_back(node.inputs[4]);
    for (const char* name : {"activation", "min", "max", "alpha"}) {
      first.attributes.erase(name);
      const auto* value = node.attributes.find("inner_" + std::string(name));
      if (value != nullptr) first.attributes.set(name, *value);
    }
    for (const char* name : {"kernel_shape", "strides", "pads", "dilations", "auto_pad"}) {
      first.attributes.erase(name);
    }
    for (ir::Node* conv : {&first, &second}) {
      for (const char* name : {"activation", "min", "max", "alpha"}) {
        conv->attributes.erase("inner_" + std::string(name));
      }
    }
    const std::int64_t channels = node.attributes.get_int("out_channels", 0);
    second.attributes.erase("channel_order");
    second.attributes.set("in_channels", channels);
    second.attributes.set("group", channels);
    Shape between = inputs[0].shape();
    between[1] = type.shape[1];
    const Tensor inner = Blocked(first, {inputs[0], inputs[1], inputs[2]}, {type.element, between});
    std::vector<Tensor> operands{inner, inputs[3]};
    if (inputs.size() > 4) operands.push_back(inputs[4]);
    return Blocked(second, operands, type);
  }

  static Tensor BlockedByteConv(const ir::Node& node, std::vector<Tensor> inputs,
                                const TensorType& type) {
    if (inputs[0].shape().size() == 4) {
      inputs[1] = kernels::PackBytePlanesWeights(inputs[1]);
      return One("blocked_byte_conv2d_planes", inputs, type, node.attributes);
    }
    const bool depthwise = node.attributes.get_int("group", 1) > 1;
    inputs[1] = depthwise ? kernels::PackByteDepthwiseWeights(inputs[1])
                          : kernels::PackByteConvWeights(inputs[1]);
    return One(depthwise ? "blocked_byte_depthwise_conv2d" : "blocked_byte_conv2d", inputs, type,
               node.attributes);
  }

  static Tensor Activate(const Attributes& attributes, const Tensor& x) {
    const std::string activation = attributes.get_string("activation", "");
    const TensorType& type = x.type();
    if (activation.empty()) return x;
    if (activation == "relu") return One("Relu", {x}, type);
    if (activation == "sigmoid") return One("Sigmoid", {x}, type);
    if (activation == "tanh") return One("Tanh", {x}, type);
    if (activation == "hardswish") return One("HardSwish", {x}, type);
    if (activation == "silu") return One("Mul", {x, One("Sigmoid", {x}, type)}, type);
    if (activation == "gelu_erf") return One("Gelu", {x}, type, {{"approximate", "none"}});
    if (activation == "gelu_tanh") return One("Gelu", {x}, type, {{"approximate", "tanh"}});
    if (activation == "leaky_relu") {
      return One("LeakyRelu", {x}, type, {{"alpha", attributes.get_float("alpha", 0)}});
    }
    const auto bound = [&](const char* name) {
      const auto value = static_cast<double>(attributes.get_float(name, 0));
      return FromDoubles({type.element, {}}, std::vector<double>{value});
    };
    return One("Clip", {x, bound("min"), bound("max")}, type);
  }

  const ir::Graph& graph_;
  std::map<ir::ValueId, Tensor> values_;
};

/// Values in [-2, 2], the same for every call with equal arguments.
inline std::vector<Tensor> RandomInputs(const ir::Graph& graph) {
  std::minstd_rand random(1);
  std::vector<Tensor> inputs;
  for (ir::ValueId id : graph.inputs) {
    std::vector<double> values(static_cast<std::size_t>(ElementCount(graph.type(id).shape)));
    const ElementType element = graph.type(id).element;
    const bool is_byte = element == ElementType::kUint8 || element == ElementType::kInt8;
    const double lowest = element == ElementType::kInt8 ? -128 : 0;
    for (double& value : values) {
      value = is_byte ? lowest + static_cast<double>(random() % 256)
                      : static_cast<double>(random() % 4001) / 1000 - 2;
    }
    inputs.push_back(FromDoubles(graph.type(id), values));
  }
  return inputs;
}

/// The largest difference between the outputs of two graphs with the same inputs, relative to
/// values beyond 1.
inline double LargestDifference(const ir::Graph& a, const ir::Graph& b) {
  const std::vector<Tensor> inputs = RandomInputs(a);
  const std::vector<Tensor> left = Evaluator::Run(a, inputs);
  const std::vector<Tensor> right = Evaluator::Run(b, inputs);
  double largest = left.size() == right.size() ? 0 : 1e30;
  for (std::size_t i = 0; i < left.size() && i < right.size(); ++i) {
    const std::vector<double> x = ToDoubles(left[i]);
    const std::vector<double> y = ToDoubles(right[i]);
    if (x.size() != y.size()) return 1e30;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double difference = std::abs(x[k] - y[k]) / std::max(1.0, std::abs(x[k]));
      // Written so that NaN counts as different.
      if (!(difference <= largest)) largest = difference;
    }
  }
  return largest;
}

}  // namespace poprt::passes
