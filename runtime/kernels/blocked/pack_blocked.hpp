#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/tensor/shape.hpp"
#include "runtime/tensor/tensor.hpp"

/// Blocked images, and weights in the order in which the kernels on blocked images read them. The
/// order is part of the container format: it is the same for every processor. Weights are float32
/// or float16 and are stored as either; all functions throw KernelError for other types, ranks and
/// sizes that make no sense.
namespace poprt::kernels {

/// Blocks of 16 channels, the last one with spare lanes where 16 does not divide the channels.
constexpr std::int64_t BlocksOf(std::int64_t channels) {
  return channels / 16 + (channels % 16 != 0 ? 1 : 0);
}

/// Whether the last block has up to eight channels.
constexpr bool EndsInHalf(std::int64_t channels) {
  return channels % 16 >= 1 && channels % 16 <= 8;
}

/// Type of a blocked image, [batch, ceil(channels / 16), height, width, 16]: channel c of a pixel
/// is element [c / 16, pixel, c % 16]. Spare lanes hold any number.
TensorType BlockedImageType(std::int64_t batch, std::int64_t channels, std::int64_t height,
                            std::int64_t width, ElementType element = ElementType::kFloat32);

/// Type of "blocked_conv2d" weights, [group, ceil(outs / 16), ceil(ins / 16), taps, 16, 16] for the
/// `outs` output and `ins` input channels of a group; the last axis is the output channel, spare
/// lanes are zero. More than one group only where 16 divides `ins` and `outs`.
TensorType PackedBlockedConv2dType(std::int64_t out_channels, std::int64_t in_channels,
                                   std::int64_t taps, std::int64_t group,
                                   ElementType stored = ElementType::kFloat32);

/// Packs W [out_channels, in_channels / group, rows, columns].
Tensor PackBlockedConv2dWeights(const Tensor& w, std::int64_t group,
                                ElementType stored = ElementType::kFloat32);

/// The same as panels of [ceil(ins / 16) * taps * 16, 16] for every block of output channels.
TensorType BlockedConv2dPanelsType(std::int64_t out_channels, std::int64_t in_channels,
                                   std::int64_t taps, std::int64_t group);

/// Packs W as scaled panels of these (packed/scaled_panels.hpp), W being float32; nothing where it
/// cannot be.
std::optional<Tensor> PackScaledBlockedConv2dWeights(const Tensor& w, std::int64_t group);

/// Type of "blocked_conv2d_planes" weights, [ceil(out_channels / 16), in_channels * taps, 16].
TensorType PackedBlockedPlanesType(std::int64_t out_channels, std::int64_t in_channels,
                                   std::int64_t taps, ElementType stored = ElementType::kFloat32);

/// Packs W [out_channels, in_channels, rows, columns].
Tensor PackBlockedPlanesWeights(const Tensor& w, ElementType stored = ElementType::kFloat32);

/// Output channels of one group that lie in one block.
struct GroupPiece {
  std::int64_t block;
  std::int64_t group;
  std::int64_t first_lane;  ///< of the block
  std::int64_t last_lane;   ///< one past
};

/// The pieces of all groups in order; group divides out_channels.
std::vector<GroupPiece> GroupPiecesOf(std::int64_t out_channels, std::int64_t group);

/// Type of "blocked_pointwise_conv2d" weights, [pieces, in_channels / group, 16]; lanes of other
/// groups are zero.
TensorType PackedBlockedPointwiseType(std::int64_t out_channels, std::int64_t in_channels,
                                      std::int64_t group,
                                      ElementType stored = ElementType::kFloat32);

/// Packs W [out_channels, in_channels / group, 1, 1].
Tensor PackBlockedPointwiseWeights(const Tensor& w, std::int64_t group,
                                   ElementType stored = ElementType::kFloat32);

/// Type of "blocked_depthwise_conv2d" weights, [ceil(channels / 16), taps, 16].
TensorType PackedBlockedDepthwiseType(std::int64_t channels, std::int64_t taps,
                                      ElementType stored = ElementType::kFloat32);

/// Packs W [channels, 1, rows, columns].
Tensor PackBlockedDepthwiseWeights(const Tensor& w, ElementType stored = ElementType::kFloat32);

/// Packs a float32 or float16 bias [channels] as float32 [16 * ceil(channels / 16)].
Tensor PackBlockedBias(const Tensor& bias);

}  // namespace poprt::kernels
