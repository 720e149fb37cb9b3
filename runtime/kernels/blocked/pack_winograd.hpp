#pragma once

#include <cstdint>

#include "runtime/tensor/shape.hpp"
#include "runtime/tensor/tensor.hpp"

/// Weights of "blocked_winograd_conv2d". Their order is part of the container format. `tile` is the
/// attribute of that kernel: the outputs along a side of a tile, 2 or 4. Both functions throw
/// KernelError for other tiles and for operands that are no 3x3 filters.
namespace poprt::kernels {

/// [ceil(out_channels / 16), (tile + 2)^2, in_channels of a group, 16] in float32: for every 16
/// output channels and every element of the transformed filter (row by row) a panel as "gemm" reads
/// it.
TensorType PackedWinogradType(std::int64_t out_channels, std::int64_t in_channels,
                              std::int64_t tile);

/// Transforms and packs W [out_channels, in_channels of a group, 3, 3], float32 or float16, zeros
/// behind the last output channel. Computed in double and rounded once.
Tensor PackWinogradWeights(const Tensor& w, std::int64_t tile);

}  // namespace poprt::kernels
