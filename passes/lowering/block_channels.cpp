#include "passes/lowering/block_channels.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "passes/constant_values.hpp"
#include "passes/lowering/block_dynamic_conv.hpp"
#include "passes/lowering/block_norm.hpp"
#include "passes/lowering/block_quantized.hpp"
#include "passes/lowering/blocked_operator.hpp"
#include "passes/lowering/channel_shuffle.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/merge_groups.hpp"
#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/movement/slice_range.hpp"

namespace poprt::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

constexpr std::size_t kChannelAxis = 1;

std::int64_t Channels(const TensorType& image) { return image.shape[kChannelAxis]; }

// ---- Convolutions ----------------------------------------------------------------------------

/// Whether the value is blocked, or as easily made so as it is made to planes.
bool IsNearlyBlocked(Rewriter& rewriter, ValueId id) {
  return IsBlocked(rewriter, id) || PixelsOf(rewriter, id) != ir::kAbsent;
}

/// Whether the convolution has a form in blocks that pays for the conversion of its input.
bool TakesBlocks(Rewriter& rewriter, const Node& conv) {
  const Graph& graph = rewriter.graph();
  const TensorType& x = graph.type(conv.inputs[0]);
  const TensorType& y = graph.type(conv.outputs[0]);
  if (!CanBlock(x) || !CanBlock(y)) return false;
  if (graph.type(conv.inputs[1]).element != ElementType::kFloat32) return false;
  const std::int64_t group = conv.attributes.get_int("group", 1);
  const bool is_depthwise = group == Channels(x) && group == Channels(y);
  if (group == 1 || is_depthwise) {
    return IsBlocked(rewriter, conv.inputs[0]) || Channels(y) >= kFewestChannels;
  }
  if (Channels(x) / group % kBlock == 0 && Channels(y) / group % kBlock == 0) return true;
  if (GroupsTogether(graph, conv) > 1) return true;
  return IsPointwise(graph, conv) && Channels(y) / group >= kFewestChannels;
}

/// The convolution reads what a shuffle of blocked channels reads, and finds the channels itself.
void AbsorbShuffle(Rewriter& rewriter, ValueId& input, Attributes& attributes) {
  const std::optional<ChannelShuffle> shuffle = ChannelShuffleOf(rewriter, input);
  if (!shuffle || !IsBlocked(rewriter, shuffle->x)) return;
  input = shuffle->x;
  attributes.set("channel_order", shuffle->Order());
}

/// Weights, bias and group of a convolution so many groups of which become one.
void MergeGroupsOf(Rewriter& rewriter, std::int64_t together, std::vector<ValueId>& inputs,
                   Attributes& attributes) {
  const Graph& graph = rewriter.graph();
  const std::int64_t group = attributes.get_int("group", 1);
  const auto replace = [&](std::size_t i, Tensor merged) {
    inputs[i] = rewriter.AddConstant(graph.value(inputs[i]).name + "_merged", std::move(merged));
  };
  replace(1, MergeGroups(*graph.ConstantOf(inputs[1]), group, together));
  attributes.set("group", (group + together - 1) / together);
  if (inputs.size() <= kBiasInput || inputs[kBiasInput] == ir::kAbsent) return;
  const std::int64_t channels = graph.type(inputs[1]).shape[0];
  replace(kBiasInput, MergedBias(*graph.ConstantOf(inputs[kBiasInput]), channels));
}

bool BlockConv(Rewriter& rewriter, Node& conv) {
  if (!TakesBlocks(rewriter, conv)) return false;
  const Graph& graph = rewriter.graph();
  std::vector<ValueId> inputs = conv.inputs;
  Attributes attributes = conv.attributes;
  const std::int64_t together = GroupsTogether(graph, conv);
  if (together > 1) MergeGroupsOf(rewriter, together, inputs, attributes);
  const Shape weights = graph.type(inputs[1]).shape;
  const std::int64_t channels = weights[1] * attributes.get_int("group", 1);
  if (IsPointwise(graph, conv)) AbsorbShuffle(rewriter, inputs[0], attributes);
  const bool reads_planes = conv.attributes.get_int("group", 1) == 1 && channels < kBlock &&
                            !IsBlocked(rewriter, inputs[0]);
  if (!reads_planes) inputs[0] = Block(rewriter, inputs[0]);
  if (HasInput(conv, kResidualInput)) {
    inputs[kResidualInput] = Block(rewriter, inputs[kResidualInput]);
  }
  attributes.set("in_channels", channels);
  attributes.set("out_channels", weights[0]);
  attributes.set("kernel_shape", Ints{weights[2], weights[3]});
  BecomeUnblocked(rewriter, conv, "BlockedConv", std::move(inputs), std::move(attributes));
  return true;
}

// ---- Pooling ---------------------------------------------------------------------------------

bool BlockPool(Rewriter& rewriter, Node& pool) {
  const bool is_max = pool.op == "MaxPool" || pool.op == "GlobalMaxPool";
  const bool is_global = pool.op != "MaxPool" && pool.op != "AveragePool";
  const ir::Graph& graph = rewriter.graph();
  const TensorType& result = graph.type(pool.outputs[0]);
  if (pool.outputs.size() > 1 || !CanBlock(result)) return false;
  // A window that moves is worth the conversion of its input.
  const bool pays = !is_global && Channels(result) >= kFewestChannels;
  if (!IsBlocked(rewriter, pool.inputs[0]) && !pays) return false;
  Attributes attributes = pool.attributes;
  if (is_global) {
    const Shape& image = graph.type(pool.inputs[0]).shape;
    attributes = {{"kernel_shape", Ints{image[2], image[3]}}};
  }
  BecomeUnblocked(rewriter, pool, is_max ? "BlockedMaxPool" : "BlockedAveragePool",
                  {Block(rewriter, pool.inputs[0])}, std::move(attributes));
  return true;
}

// ---- Normalisation ---------------------------------------------------------------------------

bool BlockLrn(Rewriter& rewriter, Node& lrn) {
  const TensorType& result = rewriter.graph().type(lrn.outputs[0]);
  if (!IsBlocked(rewriter, lrn.inputs[0]) || !CanBlock(result)) return false;
  Attributes attributes = lrn.attributes;
  attributes.set("channels", Channels(result));
  BecomeUnblocked(rewriter, lrn, "BlockedLRN", {Block(rewriter, lrn.inputs[0])},
                  std::move(attributes));
  return true;
}

// ---- Concatenation ---------------------------------------------------------------------------

/// Along channels whose blocks stay whole (others are joined where they are read), when most of the
/// operands are blocked already.
bool BlockConcat(Rewriter& rewriter, Node& concat) {
  const Graph& graph = rewriter.graph();
  if (!IsBlocked(rewriter, concat.outputs[0])) return false;
  for (std::size_t i = 0; i + 1 < concat.inputs.size(); ++i) {
    if (Channels(graph.type(concat.inputs[i])) % kBlock != 0) return false;
  }
  std::vector<ValueId> inputs;
  for (ValueId id : concat.inputs) inputs.push_back(Block(rewriter, id));
  BecomeUnblocked(rewriter, concat, "Concat", std::move(inputs),
                  {{"axis", static_cast<std::int64_t>(kChannelAxis)}});
  return true;
}

// ---- Parts of channels, and resized images ---------------------------------------------------

/// Along channels into whole blocks.
bool BlockSplit(Rewriter& rewriter, Node& split) {
  Graph& graph = rewriter.graph();
  if (!IsBlocked(rewriter, split.inputs[0])) return false;
  if (split.attributes.get_int("axis", 0) % 4 != kChannelAxis) return false;
  Ints blocks;
  for (ValueId id : split.outputs) {
    const bool is_last = id == split.outputs.back();
    if (id == ir::kAbsent || !CanBlock(graph.type(id))) return false;
    if (!is_last && Channels(graph.type(id)) % kBlock != 0) return false;
    blocks.push_back(BlockedType(graph.type(id)).shape[kChannelAxis]);
  }
  Node blocked = graph.MakeNode(
      "Split", {Block(rewriter, split.inputs[0])}, BlockedType(graph.type(split.outputs[0])),
      {{"axis", static_cast<std::int64_t>(kChannelAxis)}, {"split", blocks}}, split.name);
  for (std::size_t i = 1; i < split.outputs.size(); ++i) {
    const ir::Value plain = graph.value(split.outputs[i]);
    blocked.outputs.push_back(graph.AddValue(plain.name + "_blocked", BlockedType(plain.type)));
  }
  const std::vector<ValueId> parts = blocked.outputs;
  rewriter.Insert(std::move(blocked));
  for (std::size_t i = 1; i < split.outputs.size(); ++i) {
    const ir::Value plain = graph.value(split.outputs[i]);
    rewriter.Forward(split.outputs[i], rewriter.Insert(graph.MakeNode(
                                           "UnblockChannels", {parts[i]}, plain.type,
                                           {{"channels", Channels(plain.type)}}, plain.name)));
  }
  split.op = "UnblockChannels";
  split.inputs = {parts[0]};
  split.outputs.resize(1);
  split.attributes = {{"channels", Channels(graph.type(split.outputs[0]))}};
  return true;
}

/// Of rows and columns, and of whole blocks of channels.
bool BlockSlice(Rewriter& rewriter, Node& slice) {
  const Graph& graph = rewriter.graph();
  const TensorType& x = graph.type(slice.inputs[0]);
  const TensorType& y = graph.type(slice.outputs[0]);
  if (!CanBlock(x) || !CanBlock(y) || !IsBlocked(rewriter, slice.inputs[0])) return false;
  std::vector<kernels::SliceRange> ranges = kernels::ResolveSlice(slice.attributes, x.shape);
  kernels::SliceRange& channels = ranges[kChannelAxis];
  const bool are_last = channels.start + channels.count == Channels(x);
  const bool are_whole = channels.start % kBlock == 0 && (channels.count % kBlock == 0 || are_last);
  if (channels.step != 1 || !are_whole) return false;
  channels = {.start = channels.start / kBlock, .count = kernels::CeilDiv(channels.count, kBlock)};
  Ints starts;
  Ints ends;
  Ints steps;
  for (const kernels::SliceRange& range : ranges) {
    if (range.step < 0) return false;
    starts.push_back(range.start);
    ends.push_back(range.start + (range.count - 1) * range.step + 1);
    steps.push_back(range.step);
  }
  BecomeUnblocked(rewriter, slice, "Slice", {Block(rewriter, slice.inputs[0])},
                  {{"axes", Ints{0, 1, 2, 3}},
                   {"starts", std::move(starts)},
                   {"ends", std::move(ends)},
                   {"steps", std::move(steps)}});
  return true;
}

bool BlockResize(Rewriter& rewriter, Node& resize) {
  const Graph& graph = rewriter.graph();
  if (!ResizesPixels(graph, resize) || !IsNearlyBlocked(rewriter, resize.inputs[0])) return false;
  const Shape& y = graph.type(resize.outputs[0]).shape;
  Attributes attributes = resize.attributes;
  attributes.set("axes", Ints{2, 3});
  if (const Floats scales = attributes.get_floats("scales"); !scales.empty()) {
    attributes.set("scales", Floats{scales[2], scales[3]});
  } else {
    attributes.set("sizes", Ints{y[2], y[3]});
  }
  BecomeUnblocked(rewriter, resize, "Resize", {Block(rewriter, resize.inputs[0])},
                  std::move(attributes));
  return true;
}

/// What the value is a Reshape of, or one of a Reshape.
ValueId Reshaped(Rewriter& rewriter, ValueId id) {
  while (const Node* reshape = rewriter.Producer(id, "Reshape")) id = reshape->inputs[0];
  return id;
}

/// Of a row of pixels that becomes an image.
bool BlockReshape(Rewriter& rewriter, Node& reshape) {
  const Graph& graph = rewriter.graph();
  const ValueId row = Reshaped(rewriter, reshape.inputs[0]);
  const TensorType& x = graph.type(row);
  const TensorType& y = graph.type(reshape.outputs[0]);
  if (!CanBlock(x) || !CanBlock(y) || BlockedOf(rewriter, row) == ir::kAbsent) return false;
  if (x.shape[0] != y.shape[0] || Channels(x) != Channels(y)) return false;
  if (x.shape[2] > 1 || y.shape[2] == 1 || y.shape[3] == 1) return false;
  BecomeUnblocked(rewriter, reshape, "Reshape", {Block(rewriter, row)},
                  {{"shape", BlockedType(y).shape}});
  return true;
}

/// Of phases that are whole blocks of channels each.
bool BlockShuffle(Rewriter& rewriter, Node& shuffle) {
  const TensorType& y = rewriter.graph().type(shuffle.outputs[0]);
  if (!IsBlocked(rewriter, shuffle.inputs[0]) || !CanBlock(y)) return false;
  if (shuffle.attributes.get_int("phases_first", 0) == 0 || Channels(y) % kBlock != 0) return false;
  BecomeUnblocked(rewriter, shuffle, "SubpixelShuffle", {Block(rewriter, shuffle.inputs[0])},
                  shuffle.attributes);
  return true;
}

// ---- Elementwise operators -------------------------------------------------------------------

constexpr std::string_view kElementwise[] = {
    "Abs",       "Add",       "Clip", "Elu",     "Erf",      "Gelu", "HardSigmoid", "HardSwish",
    "LeakyRelu", "Max",       "Min",  "Mish",    "Mul",      "Neg",  "PRelu",       "Relu",
    "Round",     "RoundHalf", "Selu", "Sigmoid", "Softplus", "Sub",  "Tanh"};

/// The same where spare lanes, which hold zeros or what such operators make of them, could become
/// infinite or no number: only without spare lanes.
constexpr std::string_view kElementwiseOfWholeBlocks[] = {"Div", "Exp",        "Log",
                                                          "Pow", "Reciprocal", "Sqrt"};

bool DividesByNumber(const Graph& graph, const Node& node) {
  if (node.op != "Div") return false;
  const auto number = UniformValue(graph, node.inputs[1]);
  return number && *number != 0 && ElementCount(graph.type(node.inputs[1]).shape) == 1;
}

bool IsElementwise(const Graph& graph, const Node& node, bool whole_blocks) {
  if (DividesByNumber(graph, node)) return true;
  const auto has = [&](const auto& names) { return std::ranges::count(names, node.op) > 0; };
  return has(kElementwise) || (whole_blocks && has(kElementwiseOfWholeBlocks));
}

/// What an operand of an elementwise operator is, seen from its result.
enum class Operand : std::uint8_t { kAbsent, kScalar, kPerChannel, kImage, kOther };

Operand Classify(const Graph& graph, ValueId id, const TensorType& result) {
  if (id == ir::kAbsent) return Operand::kAbsent;
  const TensorType& type = graph.type(id);
  if (ElementCount(type.shape) == 1) return Operand::kScalar;
  if (graph.ConstantOf(id) != nullptr) {
    const bool per_channel = AlongAxis(graph, id, Channels(result), 2).has_value();
    return per_channel ? Operand::kPerChannel : Operand::kOther;
  }
  const bool has_channels = CanBlock(type) && Channels(type) == Channels(result);
  return has_channels ? Operand::kImage : Operand::kOther;
}

/// A constant with one value for each channel, as it broadcasts against blocked images.
ValueId BlockConstant(Rewriter& rewriter, ValueId id, const TensorType& result) {
  Graph& graph = rewriter.graph();
  std::vector<double> values = *AlongAxis(graph, id, Channels(result), 2);
  const std::int64_t blocks = BlockedType(result).shape[kChannelAxis];
  values.resize(static_cast<std::size_t>(blocks * kBlock));
  return rewriter.AddConstant(graph.value(id).name + "_blocked",
                              FromDoubles({result.element, {blocks, 1, 1, kBlock}}, values));
}

bool BlockElementwise(Rewriter& rewriter, Node& node) {
  const Graph& graph = rewriter.graph();
  const TensorType result = graph.type(node.outputs[0]);
  if (!CanBlock(result) || !IsElementwise(graph, node, Channels(result) % kBlock == 0))
    return false;
  bool any_blocked = false;
  bool any_planes = false;
  for (ValueId id : node.inputs) {
    const Operand operand = Classify(graph, id, result);
    if (operand == Operand::kOther) return false;
    if (operand != Operand::kImage || graph.type(id) != result) continue;
    (IsBlocked(rewriter, id) ? any_blocked : any_planes) = true;
  }
  // Images of few channels are twice as large in blocks, or more.
  if (any_planes && Channels(result) <= kBlock / 2) return false;
  if (!any_blocked) return false;
  std::vector<ValueId> inputs = node.inputs;
  for (ValueId& id : inputs) {
    const Operand operand = Classify(graph, id, result);
    if (operand == Operand::kPerChannel) id = BlockConstant(rewriter, id, result);
    if (operand == Operand::kImage) id = Block(rewriter, id);
  }
  BecomeUnblocked(rewriter, node, std::string(node.op), std::move(inputs), node.attributes);
  return true;
}

/// One conversion undoes the other.
bool Cancel(Rewriter& rewriter, const Node& block) {
  const ValueId blocked = BlockedOf(rewriter, block.inputs[0]);
  if (blocked == ir::kAbsent) return false;
  rewriter.Forward(block.outputs[0], blocked);
  return true;
}

bool BlockNode(Rewriter& rewriter, Node& node) {
  if (node.op == "BlockChannels") return Cancel(rewriter, node);
  if (node.op == "FusedConv") return BlockConv(rewriter, node);
  if (node.op == "Conv") return BlockDynamicConv(rewriter, node);
  if (node.op == "QLinearConv") return BlockQLinearConv(rewriter, node);
  if (node.op == "QuantizeLinear" || node.op == "DequantizeLinear") {
    return BlockQuantization(rewriter, node);
  }
  if (node.op == "ByteAdd") return BlockBytes(rewriter, node);
  if (node.op == "MaxPool" && BlockBytes(rewriter, node)) return true;
  if (node.op == "MaxPool" || node.op == "AveragePool" || node.op == "GlobalMaxPool" ||
      node.op == "GlobalAveragePool") {
    return BlockPool(rewriter, node);
  }
  if (node.op == "LRN") return BlockLrn(rewriter, node);
  if (node.op == "Concat") return BlockConcat(rewriter, node);
  if (node.op == "Split") return BlockSplit(rewriter, node);
  if (node.op == "Slice") return BlockSlice(rewriter, node);
  if (node.op == "Resize") return BlockResize(rewriter, node);
  if (node.op == "Reshape") return BlockReshape(rewriter, node) || BlockNorm(rewriter, node);
  if (node.op == "InstanceNormalization" || node.op == "GroupNormalization") {
    return BlockNorm(rewriter, node);
  }
  if (node.op == "SubpixelShuffle") return BlockShuffle(rewriter, node);
  return node.outputs.size() == 1 && BlockElementwise(rewriter, node);
}

}  // namespace

absl::Status BlockChannels(ir::Graph& graph, const PassContext&) {
  try {
    Rewrite(graph, BlockNode);
  } catch (const std::runtime_error& error) {
    return absl::InvalidArgumentError(error.what());
  }
  return absl::OkStatus();
}

}  // namespace poprt::passes
