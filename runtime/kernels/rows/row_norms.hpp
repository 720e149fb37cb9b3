#pragma once

#include <span>

#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/kernel.hpp"

/// Tuned kernels for rows of floats, with the inner loops given so that tests can compare
/// processors.
namespace poprt::kernels {

/// Y = normalised(A + B) * scale + bias along the last axis, which has at least one element.
///
/// Inputs: A float32 or float16, of rank >= 1; optionally scale and bias, of A's elements, [last
/// extent of A]; optionally B of A's type. Outputs: Y of A's type; optionally A + B, which is
/// rounded before it is normalised; everything else is computed in float32. Attributes: epsilon
/// (1e-5 by default), rms (1: no mean is taken off; 0 by default).
BoundKernel BindNormRows(const KernelCall& call, const InnerLoops& loops);

/// Y = softmax(X) along the last axis of a float32 tensor, which has at least one element.
BoundKernel BindSoftmaxRows(const KernelCall& call, const InnerLoops& loops);

/// Y = log(softmax(X)), the same.
BoundKernel BindLogSoftmaxRows(const KernelCall& call, const InnerLoops& loops);

}  // namespace poprt::kernels
