#pragma once

#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels.hpp"

namespace poprt::kernels {

/// "weight_only_gemm": "gemm" with weights that were quantised, or rounded to float16, as integers:
/// W of PackedIntegersType(K, n, form) for the attributes `bits` and `block`.
///
/// Each kSpan of a row of A, or with weights of 16 bits each block, are rounded to multiples of a
/// power of two, of 16 bits or of 15: those that have no more bits below the largest of them lose
/// nothing. With weights of 16 bits, what rounding leaves of a row is rounded and multiplied, too,
/// where it is much, see IntegerRowKernels::leave_row. Their products with the integers are summed
/// exactly; the sums, times their scales, are summed as float32. A row with infinities or NaN has
/// results of NaN; one with numbers above 2^110 may have results that are not finite.
///
/// Where a matrix unit is faster, rows are multiplied by weights of 16 bits as they are, see
/// matrix_unit.hpp. Where a sum of a row overflows there, it and those of up to 15 columns beside
/// it are NaN.
BoundKernel BindWeightOnlyGemm(const KernelCall& call, const InnerLoops& loops,
                               const ByteMicroKernels& kernels);

}  // namespace poprt::kernels
