#pragma once

#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/quantized/integer_rows.hpp"

namespace poprt::kernels {

/// "weight_only_gemm": "gemm" with weights that were quantised, W of PackedIntegersType(K, n, form)
/// for the attributes `bits` and `block`.
///
/// Each kSpan of a row of A are rounded to multiples, of 16 bits, of a power of two: those that
/// have no more bits below the largest of them lose nothing. Their products with the integers are
/// summed exactly; the sums, times their scales, are summed as float32. A row with infinities or
/// NaN has results of NaN.
BoundKernel BindWeightOnlyGemm(const KernelCall& call, const InnerLoops& loops,
                               const IntegerRowKernels& kernels);

}  // namespace poprt::kernels
