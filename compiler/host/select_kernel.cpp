#include "compiler/host/select_kernel.hpp"

#include <algorithm>
#include <exception>
#include <string_view>

#include "absl/status/status.h"
#include "compiler/ir/placement.hpp"
#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/blocked/pack_winograd.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/pack.hpp"
#include "runtime/kernels/packed/scaled_panels.hpp"
#include "runtime/kernels/quantized/pack_byte_weights.hpp"
#include "runtime/kernels/quantized/pack_integers.hpp"
#include "runtime/kernels/quantized/pack_quads.hpp"
#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/recurrent/recurrent_options.hpp"
#include "runtime/kernels/recurrent/recurrent_weights.hpp"
#include "runtime/kernels/window/window.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::host {
namespace {

/// Positions of the operands of FusedMatMul and FusedConv.
constexpr std::size_t kInput = 0;
constexpr std::size_t kWeights = 1;
constexpr std::size_t kBias = 2;

std::vector<Operand> ValueOperands(const ir::Node& node) {
  std::vector<Operand> operands;
  for (ir::ValueId id : node.inputs) operands.push_back({.value = id, .packed = std::nullopt});
  return operands;
}

/// What constant weights are stored as: float16 when that loses nothing, which exporters' files of
/// half weights are made of; kernels widen them on the fly.
ElementType StoredType(const Tensor& weights) {
  if (weights.element() != ElementType::kFloat32) return weights.element();
  const auto* begin = reinterpret_cast<const float*>(weights.data());
  const bool is_half = std::all_of(begin, begin + weights.count(), [](float value) {
    return static_cast<float>(Float16(value)) == value;
  });
  return is_half ? ElementType::kFloat16 : ElementType::kFloat32;
}

/// Packed kernels add the bias to float32 sums.
void WidenBias(const ir::Graph& graph, const ir::Node& node, std::vector<Operand>& operands) {
  if (node.inputs.size() <= kBias) return;
  const Tensor* bias = graph.ConstantOf(node.inputs[kBias]);
  if (bias == nullptr || bias->element() == ElementType::kFloat32) return;
  operands[kBias].packed =
      kernels::RunOnce("Cast", {*bias}, {{ElementType::kFloat32, bias->shape()}}, {}).front();
}

/// Whether choose_short_weights has chosen that weights become short.
bool IsShort(const ir::Node& node) { return node.attributes.get_int("short_weights", 0) != 0; }

/// Panels of float32 in 16 bits, where rounding does not take too much of them.
void Scale(std::optional<Tensor>& panels) {
  if (panels->element() != ElementType::kFloat32) return;
  if (auto scaled = kernels::ScalePanels(*panels)) panels = std::move(scaled);
}

Tensor PackGemm(const ir::Node& node, const Tensor& weights, bool transposed) {
  const ElementType stored = StoredType(weights);
  if (IsShort(node) && stored == ElementType::kFloat32) {
    auto scaled = kernels::PackScaledGemmWeights(weights, transposed);
    if (scaled.has_value()) return *std::move(scaled);
  }
  return kernels::PackGemmWeights(weights, transposed, stored);
}

KernelChoice SelectGemm(const ir::Graph& graph, const ir::Node& node) {
  const Tensor& weights = *graph.ConstantOf(node.inputs[kWeights]);
  const bool transposed = node.attributes.get_int("trans_b", 0) != 0;
  KernelChoice choice{
      .kernel = "gemm", .operands = ValueOperands(node), .attributes = node.attributes};
  if (node.attributes.has("bits")) {
    choice.kernel = "weight_only_gemm";
    choice.operands[kWeights].packed = kernels::PackIntegers(
        weights, transposed,
        {.bits = node.attributes.get_int("bits", 0), .block = node.attributes.get_int("block", 0)});
  } else {
    choice.operands[kWeights].packed = PackGemm(node, weights, transposed);
  }
  choice.attributes.erase("trans_b");
  choice.attributes.erase("short_weights");
  choice.attributes.set("n", weights.shape()[transposed ? 0 : 1]);
  WidenBias(graph, node, choice.operands);
  return choice;
}

KernelChoice SelectIntegerGemm(const ir::Graph& graph, const ir::Node& node) {
  const Tensor& weights = *graph.ConstantOf(node.inputs[kWeights]);
  KernelChoice choice{
      .kernel = "integer_gemm", .operands = ValueOperands(node), .attributes = node.attributes};
  choice.operands[kWeights].packed = kernels::PackQuads(weights);
  choice.attributes.set("n", weights.shape()[1]);
  return choice;
}

/// With constant weights of 8-bit integers packed.
KernelChoice SelectQLinearMatMul(const ir::Graph& graph, const ir::Node& node) {
  constexpr std::size_t kQuantizedWeights = 3;
  KernelChoice choice{
      .kernel = node.op, .operands = ValueOperands(node), .attributes = node.attributes};
  const auto is_bytes = [&](ir::ValueId id) {
    return kernels::Contains(kernels::kByteTypes, graph.type(id).element);
  };
  const Tensor* weights = graph.ConstantOf(node.inputs[kQuantizedWeights]);
  if (weights == nullptr || weights->shape().size() != 2 || weights->count() == 0 ||
      !is_bytes(node.inputs[kInput]) || !is_bytes(node.inputs[kQuantizedWeights])) {
    return choice;
  }
  choice.operands[kQuantizedWeights].packed = kernels::PackQuads(*weights);
  choice.attributes.set("n", weights->shape()[1]);
  return choice;
}

KernelChoice SelectConvolution(const ir::Graph& graph, const ir::Node& node) {
  const Tensor& weights = *graph.ConstantOf(node.inputs[kWeights]);
  const Shape& shape = weights.shape();
  const std::int64_t group = node.attributes.get_int("group", 1);
  const bool depthwise = group > 1 && group == graph.type(node.inputs[kInput]).shape.at(1);
  KernelChoice choice{.kernel = depthwise ? "depthwise_conv2d" : "conv2d",
                      .operands = ValueOperands(node),
                      .attributes = node.attributes};
  choice.operands[kWeights].packed =
      depthwise ? kernels::PackDepthwiseWeights(weights, StoredType(weights))
                : kernels::PackConv2dWeights(weights, group, StoredType(weights));
  choice.attributes.set("out_channels", shape[0]);
  choice.attributes.set("kernel_shape", Ints{shape[2], shape[3]});
  WidenBias(graph, node, choice.operands);
  return choice;
}

/// Whether a convolution of blocked images takes the kernel for single pixels: that is the only one
/// for groups that share blocks, for channels in another order and for results with channels last,
/// and the fastest for sums that are not too long.
bool TakesSinglePixels(const ir::Graph& graph, const ir::Node& node, const Shape& weights) {
  const std::int64_t group = node.attributes.get_int("group", 1);
  const Shape& x = graph.type(node.inputs[kInput]).shape;
  if (!kernels::ReadsEveryPixelOnce(
          kernels::ResolveWindow(node.attributes, {x[2], x[3]}, {weights[2], weights[3]}))) {
    return false;
  }
  const bool whole_blocks = group == 1 || (weights[1] % 16 == 0 && weights[0] / group % 16 == 0);
  return !whole_blocks || node.attributes.has("channel_order") ||
         node.attributes.has("channels_last") || kernels::IsFasterByPixels(weights[1], x[2] * x[3]);
}

/// Of an image that is not in blocks of channels.
constexpr std::size_t kPlainRank = 4;

/// The form of a convolution in blocks of channels, with its weights packed for it.
KernelChoice SelectBlockedConvolution(const ir::Graph& graph, const ir::Node& node) {
  const Tensor& weights = *graph.ConstantOf(node.inputs[kWeights]);
  const std::int64_t group = node.attributes.get_int("group", 1);
  const std::int64_t tile = node.attributes.get_int("winograd_tile", 0);
  KernelChoice choice{
      .kernel = "blocked_conv2d", .operands = ValueOperands(node), .attributes = node.attributes};
  std::optional<Tensor>& packed = choice.operands[kWeights].packed;
  if (graph.type(node.inputs[kInput]).shape.size() == kPlainRank) {
    choice.kernel = "blocked_conv2d_planes";
    packed = kernels::PackBlockedPlanesWeights(weights, StoredType(weights));
  } else if (tile > 0) {
    choice.kernel = "blocked_winograd_conv2d";
    choice.attributes.erase("winograd_tile");
    choice.attributes.set("tile", tile);
    packed = kernels::PackWinogradWeights(weights, tile);
    if (IsShort(node)) Scale(packed);
  } else if (group > 1 && group == weights.shape()[0] && weights.shape()[1] == 1) {
    choice.kernel = "blocked_depthwise_conv2d";
    packed = kernels::PackBlockedDepthwiseWeights(weights, StoredType(weights));
  } else if (TakesSinglePixels(graph, node, weights.shape())) {
    choice.kernel = "blocked_pointwise_conv2d";
    packed = kernels::PackBlockedPointwiseWeights(weights, group, StoredType(weights));
    if (IsShort(node)) Scale(packed);
  } else {
    if (IsShort(node) && StoredType(weights) == ElementType::kFloat32) {
      packed = kernels::PackScaledBlockedConv2dWeights(weights, group);
    }
    if (!packed) {
      packed = kernels::PackBlockedConv2dWeights(weights, group, StoredType(weights));
    }
  }
  choice.attributes.erase("short_weights");
  if (node.inputs.size() > kBias && node.inputs[kBias] != ir::kAbsent) {
    choice.operands[kBias].packed = kernels::PackBlockedBias(*graph.ConstantOf(node.inputs[kBias]));
  }
  return choice;
}

KernelChoice SelectByteConvolution(const ir::Graph& graph, const ir::Node& node) {
  const Tensor& weights = *graph.ConstantOf(node.inputs[kWeights]);
  KernelChoice choice{.kernel = "blocked_byte_conv2d",
                      .operands = ValueOperands(node),
                      .attributes = node.attributes};
  std::optional<Tensor>& packed = choice.operands[kWeights].packed;
  if (graph.type(node.inputs[kInput]).shape.size() == kPlainRank) {
    choice.kernel = "blocked_byte_conv2d_planes";
    packed = kernels::PackBytePlanesWeights(weights);
  } else if (node.attributes.get_int("group", 1) > 1) {
    choice.kernel = "blocked_byte_depthwise_conv2d";
    packed = kernels::PackByteDepthwiseWeights(weights);
  } else {
    packed = kernels::PackByteConvWeights(weights);
  }
  return choice;
}

KernelChoice SelectPointwiseDepthwise(const ir::Graph& graph, const ir::Node& node) {
  constexpr std::size_t kFilters = 3;
  constexpr std::size_t kFilterBias = 4;
  const Tensor& weights = *graph.ConstantOf(node.inputs[kWeights]);
  const Tensor& filters = *graph.ConstantOf(node.inputs[kFilters]);
  KernelChoice choice{.kernel = "blocked_pointwise_depthwise",
                      .operands = ValueOperands(node),
                      .attributes = node.attributes};
  choice.operands[kWeights].packed = kernels::PackBlockedPointwiseWeights(
      weights, node.attributes.get_int("group", 1), StoredType(weights));
  choice.operands[kFilters].packed =
      kernels::PackBlockedDepthwiseWeights(filters, StoredType(filters));
  for (const std::size_t i : {kBias, kFilterBias}) {
    if (node.inputs.size() <= i || node.inputs[i] == ir::kAbsent) continue;
    choice.operands[i].packed = kernels::PackBlockedBias(*graph.ConstantOf(node.inputs[i]));
  }
  return choice;
}

/// The tuned form; W and R are packed when both are constants of a type that can be.
KernelChoice SelectRecurrent(const ir::Graph& graph, const ir::Node& node,
                             kernels::RecurrentKind kind, const char* kernel) {
  using In = kernels::RecurrentInput;
  KernelChoice choice{
      .kernel = kernel, .operands = ValueOperands(node), .attributes = node.attributes};
  for (const std::size_t i : {In::kW, In::kR}) {
    const Tensor* weights = graph.ConstantOf(node.inputs[i]);
    const bool can_pack = weights != nullptr && weights->count() > 0 &&
                          (weights->element() == ElementType::kFloat32 ||
                           weights->element() == ElementType::kFloat16);
    if (!can_pack) return choice;
  }
  for (const std::size_t i : {In::kW, In::kR}) {
    choice.operands[i].packed =
        kernels::PackRecurrentWeights(*graph.ConstantOf(node.inputs[i]), kernels::GatesOf(kind));
  }
  const auto scale = [&](std::size_t input) {
    if (IsShort(node)) Scale(choice.operands[input].packed);
  };
  // W is multiplied by all steps at once.
  const Shape& x = graph.type(node.inputs[In::kX]).shape;
  if (x[0] * x[1] == 1) scale(In::kW);
  scale(In::kR);
  choice.attributes.erase("short_weights");
  choice.attributes.set("hidden_size", graph.type(node.inputs[In::kR]).shape.at(2));
  choice.attributes.set("packed", std::int64_t{1});
  return choice;
}

/// The kernel of an operator whose operands and attributes it takes as they are.
std::string_view KernelNamed(std::string_view op) {
  if (op == "BlockChannels") return "block_channels";
  if (op == "UnblockChannels") return "unblock_channels";
  if (op == "JoinChannels") return "join_channels";
  if (op == "BlockedByteMaxPool") return "blocked_byte_max_pool";
  if (op == "BlockedDynamicConv") return "blocked_conv2d";
  if (op == "BlockedDynamicDepthwiseConv") return "blocked_depthwise_conv2d";
  if (op == "BlockedLRN") return "blocked_lrn";
  if (op == "BlockedMaxPool") return "blocked_max_pool";
  if (op == "BlockedAveragePool") return "blocked_average_pool";
  if (op == "BlockedMoments") return "blocked_moments";
  if (op == "ByteAdd") return "add_bytes";
  if (op == "BatchMatMul") return "batch_matmul";
  if (op == "FusedAttention") return "attention";
  if (op == "FusedNorm") return "norm_rows";
  if (op == "FusedElementwise") return "fused_elementwise";
  if (op == "SubpixelShuffle") return "subpixel_shuffle";
  return op;
}

/// The tuned form of Softmax and LogSoftmax for rows of float32. Short rows are left to the generic
/// kernel, which handles many of them side by side.
KernelChoice SelectSoftmax(const ir::Graph& graph, const ir::Node& node) {
  KernelChoice choice{
      .kernel = node.op, .operands = ValueOperands(node), .attributes = node.attributes};
  const TensorType& type = graph.type(node.inputs[kInput]);
  const auto axis = NormalizeAxis(node.attributes.get_int("axis", -1), type.shape.size());
  const bool rows = axis && static_cast<std::size_t>(*axis) + 1 == type.shape.size();
  if (type.element != ElementType::kFloat32 || !axis) return choice;
  constexpr std::int64_t kShortestRow = 48;
  if (rows && type.shape.back() >= kShortestRow) {
    choice.kernel = node.op == "Softmax" ? "softmax_rows" : "log_softmax_rows";
    choice.attributes = {};
    return choice;
  }
  if (node.op != "Softmax") return choice;
  constexpr std::int64_t kFewestColumns = 4;
  constexpr std::int64_t kFewestElements = 256;
  const auto extent = type.shape.begin() + *axis;
  const std::int64_t columns = ElementCount(Shape(extent + 1, type.shape.end()));
  const bool pays = columns >= kFewestColumns && *extent > (kFewestElements - 1) / columns;
  if (pays && !rows) choice.kernel = "softmax_columns";
  return choice;
}

KernelChoice Select(const ir::Graph& graph, const ir::Node& node) {
  if (node.op == "Softmax" || node.op == "LogSoftmax") return SelectSoftmax(graph, node);
  if (node.op == "FusedMatMul") return SelectGemm(graph, node);
  if (node.op == "RoundHalf") {
    return {.kernel = "fused_elementwise",
            .operands = ValueOperands(node),
            .attributes = {{"functions", Strings{"half"}}, {"operands", Ints{0}}}};
  }
  if (node.op == "IntegerMatMul") return SelectIntegerGemm(graph, node);
  if (node.op == "QLinearMatMul") return SelectQLinearMatMul(graph, node);
  if (node.op == "FusedConv") return SelectConvolution(graph, node);
  if (node.op == "BlockedConv") return SelectBlockedConvolution(graph, node);
  if (node.op == "BlockedByteConv") return SelectByteConvolution(graph, node);
  if (node.op == "BlockedPointwiseDepthwise") return SelectPointwiseDepthwise(graph, node);
  if (node.op == "RNN") return SelectRecurrent(graph, node, kernels::RecurrentKind::kRnn, "rnn");
  if (node.op == "GRU") return SelectRecurrent(graph, node, kernels::RecurrentKind::kGru, "gru");
  if (node.op == "LSTM") return SelectRecurrent(graph, node, kernels::RecurrentKind::kLstm, "lstm");
  return {.kernel = std::string(KernelNamed(node.op)),
          .operands = ValueOperands(node),
          .attributes = node.attributes};
}

}  // namespace

absl::StatusOr<KernelChoice> SelectKernel(const ir::Graph& graph, const ir::Node& node) {
  try {
    KernelChoice choice = Select(graph, node);
    for (const std::string_view placement : {ir::kIpuNumber, ir::kPipelineStage}) {
      choice.attributes.erase(placement);  // steps have a stage, kernels compute by none
    }
    return choice;
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

}  // namespace poprt::host
