#include "runtime/kernels/blocked/pointwise_product.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "runtime/kernels/packed/packed_kernels.hpp"

namespace poprt::kernels {
namespace {

/// The attribute channel_order, or the order of X.
Ints ChannelOrder(const Attributes& attributes, std::int64_t channels) {
  Ints order = attributes.get_ints("channel_order");
  if (order.empty()) {
    order.resize(static_cast<std::size_t>(channels));
    std::iota(order.begin(), order.end(), 0);
  }
  Require(static_cast<std::int64_t>(order.size()) == channels,
          "attribute channel_order has " + std::to_string(order.size()) + " channels, expected " +
              std::to_string(channels));
  const auto outside = std::ranges::find_if(
      order, [&](std::int64_t channel) { return channel < 0 || channel >= channels; });
  if (outside != order.end()) {
    Require(false, "attribute channel_order has channel " + std::to_string(*outside) + " of " +
                       std::to_string(channels));
  }
  return order;
}

/// For blocks that begin every `block_floats` floats.
std::vector<std::int32_t> ChannelOffsets(const Ints& order, std::int64_t block_floats) {
  std::vector<std::int32_t> offsets;
  offsets.reserve(order.size());
  for (const std::int64_t channel : order) {
    offsets.push_back(
        static_cast<std::int32_t>(channel / kBlock * block_floats + channel % kBlock));
  }
  return offsets;
}

/// Whether each whole four of the channels of a group, `ins`, lie side by side in a block.
bool FollowInFours(const Ints& order, std::int64_t ins) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto in_group = static_cast<std::int64_t>(i) % ins;
    if (in_group % 4 == 0 || in_group >= ins / 4 * 4) continue;
    if (order[i] != order[i - 1] + 1 || order[i] % kBlock == 0) return false;
  }
  return true;
}

std::vector<std::size_t> FirstPieces(const std::vector<GroupPiece>& pieces) {
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].first_lane == 0) first.push_back(i);
  }
  first.push_back(pieces.size());
  return first;
}

}  // namespace

PointwiseProduct::PointwiseProduct(const KernelCall& call, const InnerLoops& loops,
                                   const Attributes& activation)
    : kernels_(&loops.conv),
      gemm_(&loops.gemm),
      in_(RequireBlockedImage(call.inputs[0], RequirePositive(call.attributes, "in_channels"),
                              "input 0")),
      out_channels_(RequirePositive(call.attributes, "out_channels")),
      weights_{call.inputs[1].element, 0},
      epilogue_(activation) {
  const TensorType& w = call.inputs[1];
  const std::int64_t in_channels = call.attributes.get_int("in_channels", 0);
  const std::int64_t group = call.attributes.get_int("group", 1);
  RequireType(w,
              weights_.AreScaled()
                  ? ScaledPanelsType(PackedBlockedPointwiseType(out_channels_, in_channels, group))
                  : PackedBlockedPointwiseType(out_channels_, in_channels, group, w.element),
              "the weights, input 1,");
  ins_ = weights_.depth = in_channels / group;
  const auto floats = CheckedElementCount({in_.blocks, in_.height, in_.width, kBlock});
  Require(floats.has_value() && *floats <= std::numeric_limits<std::int32_t>::max(),
          "the image has more than 2^31 elements");
  channel_order_ = ChannelOrder(call.attributes, in_channels);
  channel_offsets_ = ChannelOffsets(channel_order_, in_.BlockFloats());
  in_fours_ = FollowInFours(channel_order_, ins_);
  pieces_ = GroupPiecesOf(out_channels_, group);
  first_pieces_ = FirstPieces(pieces_);
}

bool PointwiseProduct::IsPlain() const {
  const auto channels = static_cast<std::size_t>(ins_);
  if (channel_order_.size() != channels) return false;
  for (std::size_t i = 0; i < channels; ++i) {
    if (channel_order_[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

SplitConvShape PointwiseProduct::ShapeForUnit() const {
  return {.in = {in_.batch, in_.blocks, 1, in_.Pixels()},
          .out = {in_.batch, blocks(), 1, in_.Pixels()},
          .in_blocks = in_.blocks,
          .out_blocks = blocks(),
          .last_channels = ins_ - (in_.blocks - 1) * kBlock,
          .window = ResolveWindow({}, {1, in_.Pixels()}, {1, 1}),
          .panels = weights_};
}

std::int64_t PointwiseProduct::ProductsOfBlock() const {
  return static_cast<std::int64_t>(pieces_.size()) * ins_ * kBlock / blocks();
}

PointwiseProduct::Pixels PointwiseProduct::PixelsOf(const KernelArguments& args, std::int64_t image,
                                                    std::int64_t first, std::int64_t count) const {
  return {.x = args.in<float>(0) + image * in_.blocks * in_.BlockFloats() + first * kBlock,
          .channel_offsets = channel_offsets_.data(),
          .count = count};
}

std::vector<std::int32_t> PointwiseProduct::OffsetsOfCopy(std::int64_t block_floats) const {
  return ChannelOffsets(channel_order_, block_floats);
}

std::size_t PointwiseProduct::PiecesAtOnce(std::size_t first, std::size_t last) const {
  std::size_t end = first + 1;
  const std::size_t most = std::min(last, first + static_cast<std::size_t>(kernels_->outs));
  if (pieces_[first].first_lane > 0) return 1;
  while (end < most && pieces_[end].first_lane == 0 && pieces_[end].group == pieces_[first].group) {
    ++end;
  }
  return end - first;
}

void PointwiseProduct::Run(const KernelArguments& args, const Pixels& pixels,
                           const Outputs& outputs) const {
  const auto pointwise =
      weights_.element == ElementType::kFloat16 ? kernels_->pointwise_f16 : kernels_->pointwise_f32;
  const std::size_t last = first_pieces_[static_cast<std::size_t>(outputs.first + outputs.count)];
  for (std::size_t p = first_pieces_[static_cast<std::size_t>(outputs.first)]; p < last;) {
    const GroupPiece& piece = pieces_[p];
    const std::size_t count = PiecesAtOnce(p, last);
    const PanelsView weights = weights_.View(*gemm_, args.inputs[1], static_cast<std::int64_t>(p),
                                             static_cast<int>(count), 0, ins_, outputs.widened);
    const std::int64_t at = (piece.block - outputs.first) * outputs.block_floats;
    const PointwisePanel panel{
        .x = pixels.x,
        .channel_offsets = pixels.channel_offsets + piece.group * ins_,
        .in_fours = in_fours_,
        .channels = ins_,
        .weights = weights.data,
        .bias = BiasOfBlock(args, piece.block),
        .first_lane = piece.first_lane,
        .last_lane = pieces_[p + count - 1].last_lane,
        .epilogue =
            epilogue_.WithResidual(outputs.residual == nullptr ? nullptr : outputs.residual + at),
        .y = outputs.y + at,
        .ahead = p + count < pieces_.size() ? weights.next : nullptr,
        .outputs = {.count = static_cast<int>(count),
                    .weights = weights.stride,
                    .y = outputs.block_floats,
                    .last_is_half = p + count == pieces_.size() && EndsInHalf(out_channels_)}};
    pointwise(panel, pixels.count);
    p += count;
  }
}

}  // namespace poprt::kernels
