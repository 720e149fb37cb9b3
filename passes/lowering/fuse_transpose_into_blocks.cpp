#include "passes/lowering/fuse_transpose_into_blocks.hpp"

#include "passes/lowering/blocked_operator.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/strided_view.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/blocked/blocked_kernels.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

/// Becomes the image, channels last, in another shape.
bool FuseIntoUnblock(Rewriter& rewriter, Node& transpose) {
  ir::Graph& graph = rewriter.graph();
  const StridedView view = ViewThrough(rewriter, transpose.outputs[0], false);
  const Node* unblock = rewriter.Producer(view.source, "UnblockChannels");
  if (unblock == nullptr || unblock->attributes.get_int("channels_last", 0) != 0) return false;
  if (!CanBlock(graph.type(view.source))) return false;
  const TensorType planes = graph.type(view.source);
  const Shape& s = planes.shape;
  const std::int64_t pixels = s[2] * s[3];
  const Shape last = ChannelsLast(s);
  if (!HoldsAllOf(view, last, {s[1] * pixels, s[3], 1, pixels})) return false;
  Attributes attributes = unblock->attributes;
  attributes.set("channels_last", std::int64_t{1});
  const Shape result = graph.type(transpose.outputs[0]).shape;
  transpose.inputs = {rewriter.Insert(graph.MakeNode("UnblockChannels", {unblock->inputs[0]},
                                                     {planes.element, last}, std::move(attributes),
                                                     transpose.name + "_unblocked"))};
  transpose.op = "Reshape";
  transpose.attributes = {{"shape", result}};
  return true;
}

/// Reads what the transposed value was made of.
bool FuseIntoBlock(Rewriter& rewriter, Node& block) {
  ir::Graph& graph = rewriter.graph();
  if (block.attributes.get_int("channels_last", 0) != 0) return false;
  if (!CanBlock(graph.type(block.inputs[0]))) return false;
  const ValueId pixels = PixelsOf(rewriter, block.inputs[0]);
  if (pixels == ir::kAbsent) return false;
  const TensorType planes = graph.type(block.inputs[0]);
  const Shape last = ChannelsLast(planes.shape);
  block.inputs = {rewriter.Insert(graph.MakeNode("Reshape", {pixels}, {planes.element, last},
                                                 {{"shape", last}}, block.name + "_pixels"))};
  block.attributes.set("channels_last", std::int64_t{1});
  return true;
}

/// Becomes the convolution whose result it converts.
bool FuseIntoConv(Rewriter& rewriter, Node& unblock) {
  if (unblock.attributes.get_int("channels_last", 0) == 0) return false;
  Node* const conv = rewriter.Producer(unblock.inputs[0]);
  if (conv == nullptr || !rewriter.UsedOnlyBy(1, unblock.inputs[0])) return false;
  const ir::Graph& graph = rewriter.graph();
  if (!IsBlockedPointwise(graph, *conv)) return false;
  const Shape& x = graph.type(conv->inputs[0]).shape;
  if (!kernels::IsFasterByPixels(graph.type(conv->inputs[1]).shape[1], x[2] * x[3])) return false;
  if (conv->attributes.get_int("out_channels", 0) != unblock.attributes.get_int("channels", 0)) {
    return false;
  }
  BecomeFused(unblock, *conv);
  unblock.attributes.set("channels_last", std::int64_t{1});
  return true;
}

bool Fuse(Rewriter& rewriter, Node& node) {
  if (node.op == "UnblockChannels") return FuseIntoConv(rewriter, node);
  if (node.op == "Transpose") return FuseIntoUnblock(rewriter, node);
  return node.op == "BlockChannels" && FuseIntoBlock(rewriter, node);
}

}  // namespace

absl::Status FuseTransposeIntoBlocks(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, Fuse);
  return absl::OkStatus();
}

}  // namespace poprt::passes
