#pragma once

#include <cstdint>

#include "runtime/tensor/tensor.hpp"

/// Weights of convolutions of bytes in blocks of channels (byte_conv2d.hpp), as the compiler packs
/// them. A quad is four bytes whose products are summed.
namespace poprt::kernels {

/// Type of "blocked_byte_conv2d" weights, int8 [ceil(outs / 16), ceil(ins / 16), taps, 4, 16, 4]:
/// the input channels of a block in quads, for each of 16 output channels. Spare ones are zero.
TensorType PackedByteConvType(std::int64_t out_channels, std::int64_t in_channels,
                              std::int64_t taps);

/// Packs W int8 [out_channels, in_channels, rows, columns].
Tensor PackByteConvWeights(const Tensor& w);

/// Planes of an image that are the bytes of one quad of each pixel.
inline constexpr std::int64_t kMostBytePlanes = 4;

/// Type of "blocked_byte_conv2d_planes" weights, int8 [ceil(outs / 16), taps, 16, 4]: all input
/// channels, up to four, are a quad.
TensorType PackedBytePlanesType(std::int64_t out_channels, std::int64_t taps);

/// Packs W int8 [out_channels, in_channels, rows, columns].
Tensor PackBytePlanesWeights(const Tensor& w);

/// Type of "blocked_byte_depthwise_conv2d" weights, int8
/// [ceil(channels / 16), rows, ceil(columns / 4), 16, 4]: quads of the taps of a row.
TensorType PackedByteDepthwiseType(std::int64_t channels, std::int64_t rows, std::int64_t columns);

/// Packs W int8 [channels, 1, rows, columns].
Tensor PackByteDepthwiseWeights(const Tensor& w);

}  // namespace poprt::kernels
