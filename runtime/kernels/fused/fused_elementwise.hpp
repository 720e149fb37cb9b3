#pragma once

#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

/// "fused_elementwise": a tree of element-wise functions in one pass over the data, piece by piece
/// through buffers that stay in the first-level cache. Computes in float32 and rounds once.
///
/// Inputs: 1 to 16 of float32, float16, int8 or uint8, which broadcast to the output's shape; the
/// output has one of these types, of floats that of all inputs of floats. Bytes are read as the
/// numbers they are; a result of bytes is rounded to the nearest, ties to even, plus the attribute
/// `point`, saturated, NaN to the lowest number. Values are numbered: the inputs, then the elements
/// of the attribute `constants`, then the result of every function. Attributes: `functions`, names
/// of element_functions_impl.hpp in order; `operands`, the numbers of the values they read, one or
/// two each; constants. The result of the last function is the output.
BoundKernel BindFusedElementwise(const KernelCall& call, const InnerLoops& loops);

}  // namespace poprt::kernels
