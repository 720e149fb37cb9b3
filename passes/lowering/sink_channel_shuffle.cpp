#include "passes/lowering/sink_channel_shuffle.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "passes/lowering/channel_shuffle.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::passes {
namespace {

using ir::ValueId;

bool IsDepthwise(const ir::Graph& graph, const ir::Node& node) {
  if (node.op != "FusedConv" || HasInput(node, kResidualInput)) return false;
  const Shape& weights = graph.type(node.inputs[1]).shape;
  return weights[0] > 1 && weights[0] == node.attributes.get_int("group", 1) && weights[1] == 1 &&
         graph.type(node.inputs[0]).shape[1] == weights[0];
}

/// The constant with its first axis in another order.
ValueId Reordered(Rewriter& rewriter, ValueId id, const Tensor& order) {
  const ir::Graph& graph = rewriter.graph();
  const Tensor& constant = *graph.ConstantOf(id);
  return rewriter.AddConstant(
      graph.value(id).name,
      kernels::RunOnce("Gather", {constant, order}, {constant.type()}, {{"axis", std::int64_t{0}}})
          .front());
}

bool Sink(Rewriter& rewriter, ir::Node& conv) {
  ir::Graph& graph = rewriter.graph();
  if (!IsDepthwise(graph, conv) || !rewriter.UsedOnlyBy(1, conv.inputs[0])) return false;
  const std::optional<ChannelShuffle> shuffle = ChannelShuffleOf(rewriter, conv.inputs[0]);
  if (!shuffle) return false;

  // Where the channels of x went: the shuffle of as many groups as each of these has.
  const std::int64_t columns = shuffle->channels / shuffle->groups;
  const ChannelShuffle inverse{.groups = columns, .channels = shuffle->channels};
  Tensor order({ElementType::kInt64, {shuffle->channels}});
  std::ranges::copy(inverse.Order(), order.as_mutable<std::int64_t>().begin());

  const TensorType type = graph.type(conv.outputs[0]);
  std::vector<ValueId> inputs{shuffle->x, Reordered(rewriter, conv.inputs[1], order)};
  if (HasInput(conv, kBiasInput)) {
    inputs.push_back(Reordered(rewriter, conv.inputs[kBiasInput], order));
  }
  const Shape& s = type.shape;
  const Shape parts{s[0], shuffle->groups, columns, s[2], s[3]};
  const Shape exchanged{s[0], columns, shuffle->groups, s[2], s[3]};
  const auto insert = [&](const char* op, std::vector<ValueId> operands, const Shape& shape,
                          Attributes attributes) {
    return rewriter.Insert(graph.MakeNode(op, std::move(operands), {type.element, shape},
                                          std::move(attributes), conv.name));
  };
  const ValueId result = insert("FusedConv", std::move(inputs), s, conv.attributes);
  const ValueId parted = insert("Reshape", {result}, parts, {{"shape", parts}});
  conv.inputs = {insert("Transpose", {parted}, exchanged, {{"perm", Ints{0, 2, 1, 3, 4}}})};
  conv.op = "Reshape";
  conv.attributes = {{"shape", s}};
  return true;
}

}  // namespace

absl::Status SinkChannelShuffle(ir::Graph& graph, const PassContext&) {
  Rewrite(graph, Sink);
  return absl::OkStatus();
}

}  // namespace poprt::passes
