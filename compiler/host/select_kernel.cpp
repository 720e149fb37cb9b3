#include "compiler/host/select_kernel.hpp"

#include <exception>

#include "absl/status/status.h"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/pack.hpp"
#include "runtime/kernels/recurrent/recurrent_options.hpp"
#include "runtime/kernels/recurrent/recurrent_weights.hpp"

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

/// Packed kernels add the bias to float32 sums.
void WidenBias(const ir::Graph& graph, const ir::Node& node, std::vector<Operand>& operands) {
  if (node.inputs.size() <= kBias) return;
  const Tensor* bias = graph.ConstantOf(node.inputs[kBias]);
  if (bias == nullptr || bias->element() == ElementType::kFloat32) return;
  operands[kBias].packed =
      kernels::RunOnce("Cast", {*bias}, {{ElementType::kFloat32, bias->shape()}}, {}).front();
}

KernelChoice SelectGemm(const ir::Graph& graph, const ir::Node& node) {
  const Tensor& weights = *graph.ConstantOf(node.inputs[kWeights]);
  const bool transposed = node.attributes.get_int("trans_b", 0) != 0;
  KernelChoice choice{
      .kernel = "gemm", .operands = ValueOperands(node), .attributes = node.attributes};
  choice.operands[kWeights].packed =
      kernels::PackGemmWeights(weights, transposed, weights.element());
  choice.attributes.erase("trans_b");
  choice.attributes.set("n", weights.shape()[transposed ? 0 : 1]);
  WidenBias(graph, node, choice.operands);
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
      depthwise ? kernels::PackDepthwiseWeights(weights, weights.element())
                : kernels::PackConv2dWeights(weights, group, weights.element());
  choice.attributes.set("out_channels", shape[0]);
  choice.attributes.set("kernel_shape", Ints{shape[2], shape[3]});
  WidenBias(graph, node, choice.operands);
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
  choice.attributes.set("hidden_size", graph.type(node.inputs[In::kR]).shape.at(2));
  choice.attributes.set("packed", std::int64_t{1});
  return choice;
}

KernelChoice Select(const ir::Graph& graph, const ir::Node& node) {
  if (node.op == "FusedMatMul") return SelectGemm(graph, node);
  if (node.op == "FusedConv") return SelectConvolution(graph, node);
  if (node.op == "RNN") return SelectRecurrent(graph, node, kernels::RecurrentKind::kRnn, "rnn");
  if (node.op == "GRU") return SelectRecurrent(graph, node, kernels::RecurrentKind::kGru, "gru");
  if (node.op == "LSTM") return SelectRecurrent(graph, node, kernels::RecurrentKind::kLstm, "lstm");
  const std::string kernel = node.op == "BatchMatMul" ? "batch_matmul" : node.op;
  return {.kernel = kernel, .operands = ValueOperands(node), .attributes = node.attributes};
}

}  // namespace

absl::StatusOr<KernelChoice> SelectKernel(const ir::Graph& graph, const ir::Node& node) {
  try {
    return Select(graph, node);
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

}  // namespace poprt::host
