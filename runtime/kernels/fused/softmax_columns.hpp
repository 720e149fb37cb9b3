#pragma once

#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

/// "softmax_columns": Softmax of float32 along an axis that is not the last, as segmentation heads
/// have it: strips of neighbouring columns at once. Attribute: axis.
BoundKernel BindSoftmaxColumns(const KernelCall& call, const InnerLoops& loops);

}  // namespace poprt::kernels
