#include "runtime/kernels/blocked/blocked_kernels.hpp"

#include <limits>
#include <string>

#include "runtime/kernels/bind_best.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/blocked/winograd_conv2d.hpp"
#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/packed/fused_activation.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"

namespace poprt::kernels {

BlockedImage RequireBlockedImage(const TensorType& type, std::string_view what,
                                 ElementType element) {
  const Shape& shape = type.shape;
  if (type.element != element || shape.size() != 5 || shape[4] != kBlock) {
    throw KernelError(std::string(what) + " is " + ToString(type) +
                      ", expected is a blocked image, " + std::string(ElementName(element)) +
                      "[batch, blocks, height, width, 16]");
  }
  return {shape[0], shape[1], shape[2], shape[3]};
}

BlockedImage RequireBlockedImage(const TensorType& type, std::int64_t channels,
                                 std::string_view what, ElementType element) {
  const BlockedImage image = RequireBlockedImage(type, what, element);
  RequireType(type, BlockedImageType(image.batch, channels, image.height, image.width, element),
              what);
  return image;
}

void RequireSmallOffsets(const Window& window, std::int64_t height, std::int64_t width) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 30;
  const std::int64_t extents[] = {height, width};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    Require(extents[axis] <= kLimit && window.strides[axis] <= kLimit &&
                extents[axis] + window.pads_begin[axis] + window.pads_end[axis] <= kLimit,
            "the padded image is larger than 2^30");
  }
  const auto floats = CheckedElementCount({height, width, kBlock});
  Require(floats.has_value() && *floats <= std::numeric_limits<std::int32_t>::max(),
          "the image has more than 2^27 pixels");
}

BlockedEpilogue::BlockedEpilogue(const Attributes& attributes)
    : activation_(EpilogueWithActivation(attributes)),
      is_clamp_(activation_.activation == Activation::kNone ||
                activation_.activation == Activation::kRelu ||
                activation_.activation == Activation::kClip),
      low_(-std::numeric_limits<float>::infinity()),
      high_(std::numeric_limits<float>::infinity()) {
  if (activation_.activation == Activation::kRelu) low_ = 0;
  if (activation_.activation == Activation::kClip) {
    low_ = activation_.first;
    high_ = activation_.second;
  }
}

void RequireBlockedBiasAndResidual(const KernelCall& call, std::int64_t out_channels) {
  if (const TensorType& bias = InputOrAbsent(call, 2); bias.defined()) {
    RequireType(bias, {ElementType::kFloat32, {BlocksOf(out_channels) * kBlock}},
                "the bias, input 2,");
  }
  if (const TensorType& residual = InputOrAbsent(call, 3); residual.defined()) {
    RequireType(residual, call.outputs[0], "the residual, input 3,");
  }
}

const float* BiasOfBlock(const KernelArguments& args, std::int64_t block, std::size_t input) {
  alignas(64) static constexpr float kNone[kTilePanels * kBlock] = {};
  const float* const bias = OptionalInput(args, input);
  return bias == nullptr ? kNone : bias + block * kBlock;
}

namespace {

template <BoundKernel (*kBind)(const KernelCall&, const ConvMicroKernels&)>
BoundKernel BindBest(const KernelCall& call) {
  return kBind(call, BestInnerLoops().conv);
}

}  // namespace

std::span<const KernelDef> BlockedKernels() {
  static constexpr KernelDef kKernels[] = {
      {"block_channels", GuardedBind<BindBest<BindBlockChannels>>},
      {"blocked_average_pool", GuardedBind<BindBest<BindBlockedAveragePool>>},
      {"blocked_conv2d", GuardedBind<BindBest<BindBlockedConv2d>>},
      {"blocked_conv2d_planes", GuardedBind<BindBest<BindBlockedConv2dPlanes>>},
      {"blocked_depthwise_conv2d", GuardedBind<BindBest<BindBlockedDepthwiseConv2d>>},
      {"blocked_lrn", GuardedBind<BindBlockedLrn>},
      {"blocked_max_pool", GuardedBind<BindBest<BindBlockedMaxPool>>},
      {"blocked_moments", GuardedBind<BindBest<BindBlockedMoments>>},
      {"blocked_pointwise_conv2d", GuardedBind<BindBest<BindBlockedPointwiseConv2d>>},
      {"blocked_pointwise_depthwise", GuardedBind<BindBest<BindBlockedPointwiseDepthwise>>},
      {"blocked_winograd_conv2d", GuardedBind<BindBest<BindWinogradConv2d>>},
      {"join_channels", GuardedBind<BindJoinChannels>},
      {"unblock_channels", GuardedBind<BindBest<BindUnblockChannels>>},
  };
  return kKernels;
}

}  // namespace poprt::kernels
