#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "passes/lowering/strided_view.hpp"
#include "passes/rewrite.hpp"
#include "runtime/kernels/packed/tile_sizes.hpp"

/// The operators of the host backend on images in blocks of channels. A blocked image is float32,
/// or uint8 where that is said, [B, ceil(C / 16), H, W, 16]; what lies behind channel C is finite
/// and has no meaning.
///
///   BlockChannels(x)        [B, C, H, W] as blocked image; with `channels_last`, [B, H, W, C]
///   UnblockChannels(x)      the inverse; `channels`, `channels_last`
///   BlockedConv(x, w [, bias] [, residual])
///                           as FusedConv, of a blocked image or of one with few channels as it is;
///                           `in_channels`, `out_channels`, of merged groups with the spare lanes,
///                           which then meet weights of zero. bias is [O], the residual is blocked.
///                           `channel_order`, of 1x1 filters only: channel c of the convolution is
///                           channel channel_order[c] of x; `channels_last`, of the same without a
///                           residual: the result is [B, H, W, O]; `winograd_tile` as
///                           choose_winograd chooses it; `short_weights` (scaled_panels.hpp)
///   BlockedByteMaxPool(x), ByteAdd(a, b)
///                           of uint8; the latter of any shape, see "add_bytes"
///   BlockedDynamicConv(x, w [, bias]), BlockedDynamicDepthwiseConv(x, w [, bias])
///                           as BlockedConv, of weights that are computed, in the form which
///                           PackBlockedConv2dWeights or PackBlockedDepthwiseWeights makes; without
///                           activation and residual
///   BlockedByteConv(x, w, bases, factors)
///                           as QLinearConv, of a blocked image of uint8, or of one with up to four
///                           channels as it is, and int8 weights, with what is added to the sums of
///                           each channel and what they are multiplied by; `in_channels`,
///                           `out_channels`, and the zero points `x_point`, `y_point`
///   BlockedPointwiseDepthwise(x, w [, bias], f [, filter_bias])
///                           a BlockedConv of single pixels and the depthwise one of its result;
///                           attributes of the second but for `in_channels`, `group`,
///                           `channel_order`; the first one's activation as `inner_activation`,
///                           `inner_min`, `inner_max`, `inner_alpha`
///   BlockedMaxPool(x), BlockedAveragePool(x)
///                           as MaxPool and AveragePool
///   BlockedLRN(x)           as LRN; `channels`
///   BlockedMoments(x, scale)
///                           two results, [B, ceil(C / 16), 1, 1, 16]: means, and the scale, [16 *
///                           ceil(C / 16)], divided by sqrt(variance + `epsilon`), of each of the
///                           `channels` or, with `groups`, of so many groups of them
///   JoinChannels(x, ...)    channels of blocked images, one after the other: `channels`[i] of
///   input
///                           `images`[i] from `first`[i] on
///
/// Elementwise operators and Concat are those of ONNX, on tensors with one more axis.
namespace poprt::passes {

inline constexpr std::int64_t kBlock = kernels::kPanel;
/// With fewer output channels most of a block would be computed for nothing.
inline constexpr std::int64_t kFewestChannels = 8;

/// The type of [B, C, H, W] in blocks.
TensorType BlockedType(const TensorType& plain);

/// Whether every pixel of the result of a Conv, FusedConv or BlockedConv, of any rank, is made of
/// the pixel at its place. Throws KernelError where the attributes make no sense.
bool IsPointwise(const ir::Graph& graph, const ir::Node& conv);

/// Whether each channel of the result of a BlockedConv is made of the same channel only.
bool IsBlockedDepthwise(const ir::Graph& graph, const ir::Node& conv);

/// Whether a node is a BlockedConv that sums over the channels of single pixels of a blocked image,
/// without a residual.
bool IsBlockedPointwise(const ir::Graph& graph, const ir::Node& node);

/// Whether a Resize changes height and width of images only, by attributes of all four axes and
/// without a region of interest.
bool ResizesPixels(const ir::Graph& graph, const ir::Node& resize);

/// Whether the value is float32 [B, C, H, W] with elements.
bool CanBlock(const TensorType& type);

/// [B, C, H, W] as [B, H, W, C].
Shape ChannelsLast(const Shape& planes);

/// Whether `view` holds its whole source in the order of `axes`, whose strides in the source are
/// `wanted`.
bool HoldsAllOf(const StridedView& view, const Shape& axes,
                const std::vector<std::int64_t>& wanted);

/// The value, of any shape, that `planes`, [B, C, H, W], is a Transpose and Reshape of, and that
/// holds the same image with its channels last; or kAbsent.
ir::ValueId PixelsOf(Rewriter& rewriter, ir::ValueId planes);

/// The blocked image that UnblockChannels makes the value of, or kAbsent.
ir::ValueId BlockedOf(Rewriter& rewriter, ir::ValueId plain);

/// Whether BlockedOf finds the value, or it is a Concat, Split, Slice or shuffle of channels most
/// of which it finds.
bool IsBlocked(Rewriter& rewriter, ir::ValueId plain);

/// The value as a blocked image: what BlockedOf finds, JoinChannels of what else IsBlocked, or a
/// conversion.
ir::ValueId Block(Rewriter& rewriter, ir::ValueId plain);

/// Makes the current node, whose output is [B, C, H, W], the conversion of a new node that computes
/// it in blocks: `op` of `inputs`.
void BecomeUnblocked(Rewriter& rewriter, ir::Node& node, std::string_view op,
                     std::vector<ir::ValueId> inputs, Attributes attributes);

}  // namespace poprt::passes
