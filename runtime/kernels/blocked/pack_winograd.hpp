#pragma once

#include <cstdint>

#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/shape.hpp"
#include "runtime/tensor/tensor.hpp"

/// Weights of "blocked_winograd_conv2d". Their order is part of the container format. `tile` is the
/// attribute of that kernel: the outputs along a side of a tile, 2 or 4. Both functions throw
/// KernelError where RequireWinogradFilter does.
namespace poprt::kernels {

/// [ceil(out_channels / 16), elements, parts * in_channels of a group, 16] in float32: for every 16
/// output channels and every element of the transformed filter (row by row) a panel as "gemm" reads
/// it, of all input channels for each part of the filter (row by row). Parts and elements are those
/// of RequireWinogradFilter; a filter of 3x3 is one part.
TensorType PackedWinogradType(std::int64_t out_channels, std::int64_t in_channels,
                              const Ints& kernel, std::int64_t tile);

/// Transforms and packs W [out_channels, in_channels of a group, rows, columns], float32 or
/// float16, zeros behind the last output channel. Computed in double and rounded once.
Tensor PackWinogradWeights(const Tensor& w, std::int64_t tile);

}  // namespace poprt::kernels
