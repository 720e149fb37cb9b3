#pragma once

#include <cstdint>
#include <optional>

#include "runtime/tensor/shape.hpp"
#include "runtime/tensor/tensor.hpp"

/// Weights in the order in which the packed kernels read them. The order is part of the container
/// format: it is the same for every processor. Weights are float32 or float16 and are stored as
/// either; all functions throw KernelError for other types and ranks.
namespace poprt::kernels {

/// Type of packed "gemm" weights, [ceil(n / 16), depth, 16]: panels of 16 columns, zeros behind
/// column n. depth and n are at least 1.
TensorType PackedGemmType(std::int64_t depth, std::int64_t n, ElementType stored);

/// Packs W [depth, n], or its transpose [n, depth] when `transposed`.
Tensor PackGemmWeights(const Tensor& w, bool transposed, ElementType stored);

/// The same of float32 as scaled panels, see scaled_panels.hpp; nothing where that would lose too
/// much.
std::optional<Tensor> PackScaledGemmWeights(const Tensor& w, bool transposed);

/// Type of packed "conv2d" weights, [group, out_channels / group, depth] where depth is the input
/// channels of a group times the taps. Within a group the output channels are cut by RowTiles; a
/// tile of R channels is stored as [depth][R], depth running over rows of the filter, then its
/// columns, then channels. Throws unless the numbers fit each other.
TensorType PackedConv2dType(std::int64_t out_channels, std::int64_t depth, std::int64_t group,
                            ElementType stored);

/// Packs W [out_channels, in_channels / group, rows, columns].
Tensor PackConv2dWeights(const Tensor& w, std::int64_t group, ElementType stored);

/// Type of packed "depthwise_conv2d" weights, [out_channels, taps], row-major.
TensorType PackedDepthwiseType(std::int64_t out_channels, std::int64_t taps, ElementType stored);

/// Packs W [out_channels, 1, rows, columns].
Tensor PackDepthwiseWeights(const Tensor& w, ElementType stored);

}  // namespace poprt::kernels
