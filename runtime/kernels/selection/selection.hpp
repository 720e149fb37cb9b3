#pragma once

#include "runtime/kernels/kernel.hpp"

/// Operators that select elements, so that how many there are in the result depends on the data.
/// Such a kernel writes to outputs of the largest possible extent, fills them up with zeros, and
/// has one more output, an int64 scalar: how many elements there are.
namespace poprt::kernels {

BoundKernel BindCompress(const KernelCall& call);
BoundKernel BindNonMaxSuppression(const KernelCall& call);
BoundKernel BindNonZero(const KernelCall& call);
BoundKernel BindUnique(const KernelCall& call);

}  // namespace poprt::kernels
