#pragma once

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels.hpp"

/// Convolutions of images of bytes in blocks of 16 channels (BlockedImageType of uint8):
///   y = round(clip((sum of (x - x_point) * w) * factor + y_point)), to nearest even.
/// Inputs: X; W, packed by pack_byte_weights.hpp; bases int32 [16 * ceil(out_channels / 16)], which
/// is the bias minus x_point times the sum of the weights of each channel; factors times 2^13,
/// float32 of the same shape. Attributes: in_channels, out_channels, kernel_shape, those of
/// ResolveWindow, x_point and y_point, which are bytes. Spare channels hold any byte and meet
/// weights of zero.
namespace poprt::kernels {

/// "blocked_byte_conv2d", of one group.
BoundKernel BindByteConv2d(const KernelCall& call, const ByteMicroKernels& kernels);

/// "blocked_byte_conv2d_planes", of one group: X [B, C, H, W] of up to kMostBytePlanes channels.
BoundKernel BindBytePlanesConv2d(const KernelCall& call, const ByteMicroKernels& kernels);

/// "blocked_byte_depthwise_conv2d", of single channels; no dilations.
BoundKernel BindByteDepthwiseConv2d(const KernelCall& call, const ByteMicroKernels& kernels);

}  // namespace poprt::kernels
