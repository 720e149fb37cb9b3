#pragma once

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels.hpp"

namespace poprt::kernels {

/// "add_bytes": QuantizeLinear(DequantizeLinear(a) + DequantizeLinear(b)) of uint8 of one shape, in
/// float32. Attributes a_scale, a_point, b_scale, b_point, y_scale, y_point.
BoundKernel BindAddBytes(const KernelCall& call, const ByteMicroKernels& kernels);

}  // namespace poprt::kernels
