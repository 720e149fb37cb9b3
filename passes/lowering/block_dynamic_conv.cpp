#include "passes/lowering/block_dynamic_conv.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "passes/lowering/blocked_operator.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/node_inserter.hpp"

namespace poprt::passes {
namespace {

using ir::ValueId;

/// Packing weights takes as long as computing so many pixels faster saves.
constexpr std::int64_t kFewestPixels = 32;

struct DynamicConv {
  Shape weights;  ///< [out channels, in channels / group, rows, columns]
  std::int64_t in_channels;
  std::int64_t group;

  std::int64_t out_channels() const { return weights[0]; }
  std::int64_t taps() const { return weights[2] * weights[3]; }
  bool is_depthwise() const { return group == in_channels && group == out_channels(); }
  bool has_whole_blocks() const {
    if (is_depthwise()) return group % kBlock == 0;
    return weights[1] % kBlock == 0 && out_channels() / group % kBlock == 0;
  }
};

bool Pays(const ir::Graph& graph, const ir::Node& conv) {
  if (graph.ConstantOf(conv.inputs[1]) != nullptr) return false;
  for (std::size_t i = 0; i < conv.inputs.size(); ++i) {
    if (HasInput(conv, i) && graph.type(conv.inputs[i]).element != ElementType::kFloat32) {
      return false;
    }
  }
  const TensorType& y = graph.type(conv.outputs[0]);
  if (!CanBlock(graph.type(conv.inputs[0])) || !CanBlock(y)) return false;
  return y.shape[0] * y.shape[2] * y.shape[3] >= kFewestPixels;
}

/// The weights as the kernels take them, see PackBlockedConv2dWeights and
/// PackBlockedDepthwiseWeights.
ValueId PackedWeights(NodeInserter& insert, ValueId weights, const DynamicConv& conv) {
  const std::int64_t group = conv.group;
  const std::int64_t taps = conv.taps();
  Shape apart{group / kBlock, kBlock, taps};
  Shape packed{group / kBlock, taps, kBlock};
  Ints order{0, 2, 1};
  if (!conv.is_depthwise()) {
    const std::int64_t outs = conv.out_channels() / group / kBlock;
    const std::int64_t ins = conv.weights[1] / kBlock;
    apart = {group, outs, kBlock, ins, kBlock, taps};
    packed = {group, outs, ins, taps, kBlock, kBlock};
    order = {0, 1, 3, 5, 4, 2};
  }
  const ValueId parted = insert("Reshape", {weights}, apart, {{"shape", apart}});
  return insert("Transpose", {parted}, packed, {{"perm", order}});
}

}  // namespace

bool BlockDynamicConv(Rewriter& rewriter, ir::Node& node) {
  const ir::Graph& graph = rewriter.graph();
  if (!Pays(graph, node)) return false;
  const DynamicConv conv{.weights = graph.type(node.inputs[1]).shape,
                         .in_channels = graph.type(node.inputs[0]).shape[1],
                         .group = node.attributes.get_int("group", 1)};
  if (!conv.has_whole_blocks()) return false;
  NodeInserter insert(rewriter, node.name);
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = Block(rewriter, inputs[0]);
  inputs[1] = PackedWeights(insert, inputs[1], conv);
  Attributes attributes = node.attributes;
  attributes.set("in_channels", conv.in_channels);
  attributes.set("out_channels", conv.out_channels());
  attributes.set("kernel_shape", Ints{conv.weights[2], conv.weights[3]});
  BecomeUnblocked(rewriter, node,
                  conv.is_depthwise() ? "BlockedDynamicDepthwiseConv" : "BlockedDynamicConv",
                  std::move(inputs), std::move(attributes));
  return true;
}

}  // namespace poprt::passes
