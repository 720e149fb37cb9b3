#include "passes/lowering/block_dynamic_conv.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "passes/lowering/blocked_operator.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/node_inserter.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"

namespace poprt::passes {
namespace {

using ir::ValueId;

/// Packing weights takes as long as computing so many pixels faster saves.
constexpr std::int64_t kFewestPixels = 32;

struct DynamicConv {
  Shape weights;  ///< [out channels, in channels / group, rows, columns]
  std::int64_t in_channels;
  std::int64_t group;

  /// Of a group.
  std::int64_t ins() const { return weights[1]; }
  std::int64_t outs() const { return weights[0] / group; }
  std::int64_t in_blocks() const { return kernels::BlocksOf(ins()); }
  std::int64_t out_blocks() const { return kernels::BlocksOf(outs()); }

  std::int64_t taps() const { return weights[2] * weights[3]; }
  bool is_depthwise() const { return group == in_channels && group == weights[0]; }
  bool has_whole_blocks() const { return ins() % kBlock == 0 && outs() % kBlock == 0; }
  /// Whether multiplying by the zeros that fill blocks takes less than is gained. At the limit it
  /// takes as much where there is no matrix unit.
  bool can_block() const {
    if (is_depthwise()) return group % kBlock == 0;
    constexpr double kMost = 2.5;
    const auto multiplied = static_cast<double>(in_blocks() * kBlock * out_blocks() * kBlock);
    return multiplied <= kMost * static_cast<double>(ins() * outs());
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

/// The value with zeros behind it along each axis, up to what is wanted.
ValueId Padded(NodeInserter& insert, ValueId value, const Shape& shape, const Shape& wanted) {
  if (shape == wanted) return value;
  Ints pads(2 * shape.size(), 0);
  for (std::size_t i = 0; i < shape.size(); ++i) pads[shape.size() + i] = wanted[i] - shape[i];
  return insert("Pad", {value}, wanted, {{"pads", pads}});
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
    const std::int64_t outs = conv.out_blocks();
    const std::int64_t ins = conv.in_blocks();
    if (!conv.has_whole_blocks()) {
      const Shape plain{group, conv.outs(), conv.ins(), taps};
      weights = insert("Reshape", {weights}, plain, {{"shape", plain}});
      weights = Padded(insert, weights, plain, {group, outs * kBlock, ins * kBlock, taps});
    }
    apart = {group, outs, kBlock, ins, kBlock, taps};
    packed = {group, outs, ins, taps, kBlock, kBlock};
    order = {0, 1, 3, 5, 4, 2};
  }
  const ValueId parted = insert("Reshape", {weights}, apart, {{"shape", apart}});
  return insert("Transpose", {parted}, packed, {{"perm", order}});
}

/// The bias of each group, behind it zeros up to a whole block.
ValueId PackedBias(NodeInserter& insert, ValueId bias, const DynamicConv& conv) {
  if (conv.is_depthwise() || conv.outs() % kBlock == 0) return bias;
  const Shape apart{conv.group, conv.outs()};
  const Shape padded{conv.group, conv.out_blocks() * kBlock};
  bias = insert("Reshape", {bias}, apart, {{"shape", apart}});
  const Shape packed{padded[0] * padded[1]};
  return insert("Reshape", {Padded(insert, bias, apart, padded)}, packed, {{"shape", packed}});
}

/// Groups that are no whole blocks as images of their own: blocks begin anew with each.
class ImagesOfGroups {
 public:
  ImagesOfGroups(NodeInserter& insert, const DynamicConv& conv) : insert_(insert), conv_(conv) {}

  ValueId Blocked(Rewriter& rewriter, ValueId x) const {
    const Shape all = rewriter.graph().type(x).shape;
    x = Reshaped(x, {all[0] * conv_.group, conv_.ins(), all[2], all[3]});
    return Reshaped(Block(rewriter, x),
                    {all[0], conv_.group * conv_.in_blocks(), all[2], all[3], kBlock});
  }

  /// With the spare lanes, which hold zeros.
  std::int64_t InChannels() const { return conv_.group * conv_.in_blocks() * kBlock; }
  std::int64_t OutChannels() const { return conv_.group * conv_.out_blocks() * kBlock; }

  /// Makes `node` the conversion of a BlockedDynamicConv.
  void BecomeUnblocked(Rewriter& rewriter, ir::Node& node, std::vector<ValueId> inputs,
                       Attributes attributes) const {
    const Shape all = rewriter.graph().type(node.outputs[0]).shape;
    const std::int64_t images = all[0] * conv_.group;
    const std::int64_t blocks = conv_.out_blocks();
    const ValueId y =
        insert_("BlockedDynamicConv", std::move(inputs),
                {all[0], conv_.group * blocks, all[2], all[3], kBlock}, std::move(attributes));
    const ValueId apart = Reshaped(y, {images, blocks, all[2], all[3], kBlock});
    node.op = "Reshape";
    node.inputs = {insert_("UnblockChannels", {apart}, {images, conv_.outs(), all[2], all[3]},
                           {{"channels", conv_.outs()}})};
    node.attributes = {{"shape", all}};
  }

 private:
  ValueId Reshaped(ValueId value, Shape shape) const {
    return insert_("Reshape", {value}, shape, {{"shape", shape}});
  }

  NodeInserter& insert_;
  const DynamicConv& conv_;
};

}  // namespace

bool BlockDynamicConv(Rewriter& rewriter, ir::Node& node) {
  const ir::Graph& graph = rewriter.graph();
  if (!Pays(graph, node)) return false;
  const DynamicConv conv{.weights = graph.type(node.inputs[1]).shape,
                         .in_channels = graph.type(node.inputs[0]).shape[1],
                         .group = node.attributes.get_int("group", 1)};
  if (!conv.can_block()) return false;
  NodeInserter insert(rewriter, node.name);
  const ImagesOfGroups groups(insert, conv);
  const bool is_depthwise = conv.is_depthwise();
  const bool is_apart = !is_depthwise && conv.group > 1 && !conv.has_whole_blocks();
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = is_apart ? groups.Blocked(rewriter, inputs[0]) : Block(rewriter, inputs[0]);
  inputs[1] = PackedWeights(insert, inputs[1], conv);
  if (HasInput(node, 2)) inputs[2] = PackedBias(insert, inputs[2], conv);
  Attributes attributes = node.attributes;
  attributes.set("in_channels", is_apart ? groups.InChannels() : conv.in_channels);
  attributes.set("out_channels", is_apart ? groups.OutChannels() : conv.weights[0]);
  attributes.set("kernel_shape", Ints{conv.weights[2], conv.weights[3]});
  if (is_apart) {
    groups.BecomeUnblocked(rewriter, node, std::move(inputs), std::move(attributes));
  } else {
    BecomeUnblocked(rewriter, node,
                    is_depthwise ? "BlockedDynamicDepthwiseConv" : "BlockedDynamicConv",
                    std::move(inputs), std::move(attributes));
  }
  return true;
}

}  // namespace poprt::passes
