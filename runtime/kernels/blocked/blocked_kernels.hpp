#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/kernels/blocked/conv_micro_kernels.hpp"
#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/window/window.hpp"

/// Kernels on blocked images (BlockedImageType), with the inner loops given so that tests can
/// compare processors.
///
/// The convolutions compute Y = act(conv(X, W) + bias + residual). Inputs: X; W, packed by the
/// function named like the kernel in pack_blocked.hpp, float32 or float16, those of
/// "blocked_conv2d" and "blocked_pointwise_conv2d" also scaled; optionally bias float32
/// [16 * ceil(out_channels / 16)]; optionally residual of Y's type. Y is blocked, if nothing else
/// is said. Attributes: in_channels, out_channels, kernel_shape, those of ResolveWindow, those of
/// EpilogueWithActivation. Spare lanes may hold anything, even NaN, and never reach other lanes.
namespace poprt::kernels {

/// X blocked. Attribute group; more than one only where 16 divides the channels of a group.
BoundKernel BindBlockedConv2d(const KernelCall& call, const InnerLoops& loops);

/// Whether "blocked_pointwise_conv2d" is the faster one of the two for a filter of one pixel that
/// sums over `channels` of an image of `pixels`: but for few pixels, weights of longer sums leave
/// the nearer caches before the next pixels.
inline bool IsFasterByPixels(std::int64_t channels, std::int64_t pixels) {
  constexpr std::int64_t kLongestSum = 1024;
  constexpr std::int64_t kFewPixels = 64;
  return channels <= kLongestSum || pixels <= kFewPixels;
}

/// X blocked; a filter of one pixel, stride 1, no padding; any group.
/// Attributes channel_order, optional: channel c of the convolution is channel channel_order[c] of
/// X; channels_last, optional: Y is [B, H, W, C], without a residual.
BoundKernel BindBlockedPointwiseConv2d(const KernelCall& call, const InnerLoops& loops);

/// Y = act(depthwise(inner(pointwise(X, W) + bias), F) + filter bias): what
/// "blocked_pointwise_conv2d" and then "blocked_depthwise_conv2d" compute, without the image
/// between them. Inputs: X, W, bias as of the first; F and its bias as of the second. Attributes:
/// in_channels, group and channel_order of the first; its activation as inner_activation,
/// inner_min, inner_max, inner_alpha; all others are those of the second.
BoundKernel BindBlockedPointwiseDepthwise(const KernelCall& call, const InnerLoops& loops);

/// X float32 [B, C, H, W] of few channels; one group.
BoundKernel BindBlockedConv2dPlanes(const KernelCall& call, const InnerLoops& loops);

/// X blocked; in_channels == out_channels, each channel has a filter of its own.
BoundKernel BindBlockedDepthwiseConv2d(const KernelCall& call, const ConvMicroKernels& kernels);

/// X and Y blocked. Attributes: kernel_shape, ceil_mode, those of ResolveWindow.
BoundKernel BindBlockedMaxPool(const KernelCall& call, const ConvMicroKernels& kernels);

/// As "blocked_max_pool", and count_include_pad. A window without a pixel that counts gives 0.
BoundKernel BindBlockedAveragePool(const KernelCall& call, const ConvMicroKernels& kernels);

/// What InstanceNormalization multiplies by and subtracts: of X, blocked, and a scale for each
/// channel, float32 [16 * ceil(channels / 16)], the mean of each channel of each image, and the
/// scale divided by sqrt(variance + epsilon), both float32 [B, ceil(channels / 16), 1, 1, 16].
/// Attributes: channels; groups, into which channels are put together (default one channel each);
/// epsilon. Spare lanes are zeros.
BoundKernel BindBlockedMoments(const KernelCall& call, const ConvMicroKernels& kernels);

/// LRN: y = x / (bias + alpha / size * sum)^beta, where the sum is of the squares of the `size`
/// channels about each, before it (size - 1) / 2. X and Y blocked. Attributes: channels, size,
/// alpha, beta, bias. Spare lanes are zeros.
BoundKernel BindBlockedLrn(const KernelCall& call);

/// X float32 [B, C, H, W], or [B, H, W, C] with the attribute channels_last, to blocked, with zeros
/// in the spare lanes.
BoundKernel BindBlockChannels(const KernelCall& call, const ConvMicroKernels& kernels);

/// Channels of blocked images of one size, one after the other: of input i the channels
/// [first[i], first[i] + channels[i]). Attributes first and channels, a number for each input. Y is
/// blocked, with zeros in the spare lanes.
BoundKernel BindJoinChannels(const KernelCall& call);

/// X blocked to float32 [B, channels, H, W], or [B, H, W, channels] with the attribute
/// channels_last. Attribute channels.
BoundKernel BindUnblockChannels(const KernelCall& call, const ConvMicroKernels& kernels);

// ---- What these share --------------------------------------------------------------------------

/// A blocked image without its last axis.
struct BlockedImage {
  std::int64_t batch;
  std::int64_t blocks;
  std::int64_t height;
  std::int64_t width;

  std::int64_t Pixels() const { return height * width; }
  /// Floats of one block of channels.
  std::int64_t BlockFloats() const { return Pixels() * kBlock; }
};

/// Throws unless `type` is a blocked image of any number of channels; `what` names the operand.
BlockedImage RequireBlockedImage(const TensorType& type, std::string_view what,
                                 ElementType element = ElementType::kFloat32);

/// As above for a given number of channels.
BlockedImage RequireBlockedImage(const TensorType& type, std::int64_t channels,
                                 std::string_view what,
                                 ElementType element = ElementType::kFloat32);

/// Throws unless the padded image and the window have extents of at most 2^30 and the image has
/// fewer than 2^31 floats a block, so that offsets fit in 32 bits.
void RequireSmallOffsets(const Window& window, std::int64_t height, std::int64_t width);

/// The epilogue of a blocked convolution: activations that are not clamps are applied afterwards.
class BlockedEpilogue {
 public:
  explicit BlockedEpilogue(const Attributes& attributes);

  /// For results whose residual, if any, starts at `residual`. Refers to this object.
  TileEpilogue WithResidual(const float* residual) const {
    return {.residual = residual,
            .low = low_,
            .high = high_,
            .activation = is_clamp_ ? nullptr : &activation_};
  }

 private:
  Epilogue activation_;
  bool is_clamp_;
  float low_;
  float high_;
};

/// Checks the optional bias (input 2) and residual (3) of a convolution to `out_channels`.
void RequireBlockedBiasAndResidual(const KernelCall& call, std::int64_t out_channels);

/// Operand i, null when it is absent or not given.
inline const float* OptionalInput(const KernelArguments& args, std::size_t i) {
  return i < args.inputs.size() ? args.in<float>(i) : nullptr;
}

/// Copies `count` <= 16 lanes of a block, with a constant size where it is 16.
inline void CopyLanes(const float* from, std::int64_t count, float* to) {
  if (count == kBlock) {
    std::memcpy(to, from, kBlock * sizeof(float));
  } else {
    std::copy_n(from, count, to);
  }
}

/// The biases of an output block and those behind it, from operand `input`; zeros without a bias,
/// as many as a tile has.
const float* BiasOfBlock(const KernelArguments& args, std::int64_t block, std::size_t input = 2);

}  // namespace poprt::kernels
