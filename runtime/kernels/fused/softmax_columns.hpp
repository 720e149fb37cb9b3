#pragma once

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/tile_kernels.hpp"

namespace poprt::kernels {

/// "softmax_columns": Softmax of float32 along an axis that is not the last, as segmentation heads
/// have it: strips of neighbouring columns at once. Attribute: axis.
BoundKernel BindSoftmaxColumns(const KernelCall& call, const TileKernels& kernels);

}  // namespace poprt::kernels
