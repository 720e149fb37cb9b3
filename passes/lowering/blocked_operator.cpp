#include "passes/lowering/blocked_operator.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "passes/lowering/channel_shuffle.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "runtime/kernels/movement/slice_range.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::passes {

TensorType BlockedType(const TensorType& plain) {
  const Shape& s = plain.shape;
  return {plain.element, {s[0], (s[1] + kBlock - 1) / kBlock, s[2], s[3], kBlock}};
}

bool CanBlock(const TensorType& type) {
  constexpr std::size_t kImageRank = 4;
  return type.element == ElementType::kFloat32 && type.shape.size() == kImageRank &&
         ElementCount(type.shape) > 0;
}

bool IsPointwise(const ir::Graph& graph, const ir::Node& conv) {
  const Shape& weights = graph.type(conv.inputs[1]).shape;
  const Shape kernel(weights.begin() + 2, weights.end());
  // Blocks of channels are behind the spatial axes.
  const auto first = graph.type(conv.inputs[0]).shape.begin() + 2;
  const Shape spatial(first, first + static_cast<std::ptrdiff_t>(kernel.size()));
  return kernels::ReadsEveryPixelOnce(kernels::ResolveWindow(conv.attributes, spatial, kernel));
}

bool ResizesPixels(const ir::Graph& graph, const ir::Node& resize) {
  const TensorType& x = graph.type(resize.inputs[0]);
  const TensorType& y = graph.type(resize.outputs[0]);
  if (!CanBlock(x) || !CanBlock(y) || x.shape[0] != y.shape[0] || x.shape[1] != y.shape[1]) {
    return false;
  }
  const Attributes& attributes = resize.attributes;
  const bool adapts_scales =
      attributes.get_string("keep_aspect_ratio_policy", "stretch") != "stretch";
  if (attributes.has("axes") || adapts_scales || !attributes.get_floats("roi").empty()) {
    return false;
  }
  const Floats scales = attributes.get_floats("scales");
  return scales.empty() || (scales[0] == 1.0F && scales[1] == 1.0F);
}

bool IsBlockedDepthwise(const ir::Graph& graph, const ir::Node& conv) {
  const std::int64_t group = conv.attributes.get_int("group", 1);
  return group > 1 && group == conv.attributes.get_int("out_channels", 0) &&
         graph.type(conv.inputs[1]).shape[1] == 1;
}

bool IsBlockedPointwise(const ir::Graph& graph, const ir::Node& node) {
  constexpr std::size_t kBlockedRank = 5;
  if (node.op != "BlockedConv" || HasInput(node, kResidualInput)) return false;
  if (graph.type(node.inputs[0]).shape.size() != kBlockedRank) return false;
  return !IsBlockedDepthwise(graph, node) && IsPointwise(graph, node);
}

Shape ChannelsLast(const Shape& planes) { return {planes[0], planes[2], planes[3], planes[1]}; }

bool HoldsAllOf(const StridedView& view, const Shape& axes,
                const std::vector<std::int64_t>& wanted) {
  if (view.offset != 0 || ElementCount(view.shape) != ElementCount(axes)) return false;
  const auto strides = StridesAs(view, axes);
  if (!strides) return false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != 1 && (*strides)[i] != wanted[i]) return false;
  }
  return true;
}

ir::ValueId PixelsOf(Rewriter& rewriter, ir::ValueId planes) {
  const ir::Graph& graph = rewriter.graph();
  const StridedView view = ViewThrough(rewriter, planes, false);
  const Shape& s = graph.type(planes).shape;
  if (view.source == planes) return ir::kAbsent;
  if (ElementCount(graph.type(view.source).shape) != ElementCount(s)) return ir::kAbsent;
  const bool is_last = HoldsAllOf(view, s, {s[1] * s[2] * s[3], 1, s[3] * s[1], s[1]});
  return is_last ? view.source : ir::kAbsent;
}

ir::ValueId BlockedOf(Rewriter& rewriter, ir::ValueId plain) {
  const ir::Node* conversion = rewriter.Producer(plain, "UnblockChannels");
  return conversion == nullptr ? ir::kAbsent : conversion->inputs[0];
}

namespace {

constexpr std::size_t kChannelAxis = 1;

/// An image as channels of others, one after the other.
struct ChannelParts {
  std::vector<ir::ValueId> images;
  Ints first;
  Ints channels;

  void Add(ir::ValueId image, std::int64_t from, std::int64_t count) {
    images.push_back(image);
    first.push_back(from);
    channels.push_back(count);
  }
};

std::int64_t ChannelsOf(const ir::Graph& graph, ir::ValueId image) {
  return graph.type(image).shape[kChannelAxis];
}

/// Whether a node is a Concat or Split, as `op` says, of channels.
bool IsOfChannels(const ir::Node& node, std::string_view op) {
  return node.op == op && node.attributes.get_int("axis", 0) % 4 == kChannelAxis;
}

/// What an image is a Concat of, or the image itself.
ChannelParts PartsOfConcat(Rewriter& rewriter, ir::ValueId image) {
  const ir::Graph& graph = rewriter.graph();
  const ir::Node* node = rewriter.Producer(image);
  const bool is_joined = node != nullptr && IsOfChannels(*node, "Concat");
  ChannelParts parts;
  for (ir::ValueId id : is_joined ? node->inputs : std::vector<ir::ValueId>{image}) {
    parts.Add(id, 0, ChannelsOf(graph, id));
  }
  return parts;
}

/// `count` channels from `first` on of the image, every channel on its own if they are shuffled.
ChannelParts PartsOfRange(Rewriter& rewriter, ir::ValueId image, std::int64_t first,
                          std::int64_t count) {
  ChannelParts parts;
  const std::optional<ChannelShuffle> shuffle = ChannelShuffleOf(rewriter, image);
  if (!shuffle) {
    parts.Add(image, first, count);
    return parts;
  }
  const ChannelParts whole = PartsOfConcat(rewriter, shuffle->x);
  const Ints order = shuffle->Order();
  for (std::int64_t c = first; c < first + count; ++c) {
    std::int64_t channel = order[static_cast<std::size_t>(c)];
    std::size_t part = 0;
    while (channel >= whole.channels[part]) channel -= whole.channels[part++];
    parts.Add(whole.images[part], channel, 1);
  }
  return parts;
}

/// What a Slice takes of the channels of an image of which it takes all else, in their order.
std::optional<kernels::SliceRange> ChannelsOfSlice(const ir::Graph& graph, const ir::Node& slice) {
  const Shape& whole = graph.type(slice.inputs[0]).shape;
  const std::vector<kernels::SliceRange> ranges = kernels::ResolveSlice(slice.attributes, whole);
  for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
    const bool is_whole = axis == kChannelAxis || ranges[axis].count == whole[axis];
    if (!is_whole || ranges[axis].step != 1) return std::nullopt;
  }
  return ranges[kChannelAxis];
}

/// What Concat, Split, Slice and shuffles of channels make the value of.
std::optional<ChannelParts> MovedParts(Rewriter& rewriter, ir::ValueId plain) {
  const ir::Graph& graph = rewriter.graph();
  const std::int64_t channels = ChannelsOf(graph, plain);
  if (ChannelShuffleOf(rewriter, plain)) return PartsOfRange(rewriter, plain, 0, channels);
  const ir::Node* node = rewriter.Producer(plain);
  if (node == nullptr) return std::nullopt;
  if (node->op == "Slice") {
    const std::optional<kernels::SliceRange> range = ChannelsOfSlice(graph, *node);
    if (!range) return std::nullopt;
    return PartsOfRange(rewriter, node->inputs[0], range->start, range->count);
  }
  if (IsOfChannels(*node, "Concat")) return PartsOfConcat(rewriter, plain);
  if (!IsOfChannels(*node, "Split")) return std::nullopt;
  std::int64_t first = 0;
  for (ir::ValueId id : node->outputs) {
    if (id == plain) break;
    if (id == ir::kAbsent) return std::nullopt;
    first += ChannelsOf(graph, id);
  }
  return PartsOfRange(rewriter, node->inputs[0], first, channels);
}

/// Images that are looked at to find out about one, at most: parts of parts may be many.
constexpr int kMostImages = 256;

bool IsBlockedWithin(Rewriter& rewriter, ir::ValueId plain, int& images_left);

/// MovedParts most of whose channels are blocked.
std::optional<ChannelParts> PartsOf(Rewriter& rewriter, ir::ValueId plain, int& images_left) {
  const ir::Graph& graph = rewriter.graph();
  if (!CanBlock(graph.type(plain))) return std::nullopt;
  std::optional<ChannelParts> parts = MovedParts(rewriter, plain);
  if (!parts) return std::nullopt;
  std::map<ir::ValueId, bool> is_blocked;
  std::int64_t blocked = 0;
  for (std::size_t i = 0; i < parts->images.size(); ++i) {
    const ir::ValueId image = parts->images[i];
    if (!CanBlock(graph.type(image))) return std::nullopt;
    const auto [found, is_new] = is_blocked.try_emplace(image);
    if (is_new) found->second = IsBlockedWithin(rewriter, image, images_left);
    if (found->second) blocked += parts->channels[i];
  }
  if (2 * blocked < ChannelsOf(graph, plain)) return std::nullopt;
  return parts;
}

bool IsBlockedWithin(Rewriter& rewriter, ir::ValueId plain, int& images_left) {
  if (--images_left < 0) return false;
  return BlockedOf(rewriter, plain) != ir::kAbsent ||
         PartsOf(rewriter, plain, images_left).has_value();
}

}  // namespace

bool IsBlocked(Rewriter& rewriter, ir::ValueId plain) {
  int images_left = kMostImages;
  return IsBlockedWithin(rewriter, plain, images_left);
}

ir::ValueId Block(Rewriter& rewriter, ir::ValueId plain) {
  const ir::ValueId blocked = BlockedOf(rewriter, plain);
  if (blocked != ir::kAbsent) return blocked;
  ir::Graph& graph = rewriter.graph();
  std::string op = "BlockChannels";
  std::vector<ir::ValueId> inputs = {plain};
  Attributes attributes;
  int images_left = kMostImages;
  if (const auto parts = PartsOf(rewriter, plain, images_left)) {
    op = "JoinChannels";
    inputs.clear();
    Ints images;
    std::map<ir::ValueId, std::size_t> numbers;
    for (ir::ValueId id : parts->images) {
      const auto [number, is_new] = numbers.try_emplace(id, inputs.size());
      if (is_new) inputs.push_back(Block(rewriter, id));
      images.push_back(static_cast<std::int64_t>(number->second));
    }
    attributes = {{"images", images}, {"first", parts->first}, {"channels", parts->channels}};
  }
  const ir::Value& value = graph.value(plain);
  return rewriter.Insert(graph.MakeNode(op, std::move(inputs), BlockedType(value.type),
                                        std::move(attributes), value.name + "_blocked"));
}

void BecomeUnblocked(Rewriter& rewriter, ir::Node& node, std::string_view op,
                     std::vector<ir::ValueId> inputs, Attributes attributes) {
  ir::Graph& graph = rewriter.graph();
  const TensorType plain = graph.type(node.outputs[0]);
  ir::Node blocked =
      graph.MakeNode(op, std::move(inputs), BlockedType(plain), std::move(attributes), node.name);
  std::swap(blocked.name, node.name);
  node.op = "UnblockChannels";
  node.inputs = {rewriter.Insert(std::move(blocked))};
  node.attributes = {{"channels", plain.shape[1]}};
}

}  // namespace poprt::passes
