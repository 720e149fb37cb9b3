#pragma once

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

/// Any number of spatial axes >= 1. Inputs: data [N, C, spatial...], weights in ONNX's layout
/// ([M, C / group, kernel...] and [C, M / group, kernel...]), optional bias [M]; float types.
BoundKernel BindConv(const KernelCall& call);
BoundKernel BindConvTranspose(const KernelCall& call);

/// What both check first: operands of one float type, ranks, group, bias. `output_axis` is the axis
/// of the weights that counts output channels.
struct ConvolutionOperands {
  std::int64_t batch = 0;
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t groups = 1;
  Shape input_spatial;
  Ints kernel;
};
ConvolutionOperands CheckConvolution(const KernelCall& call, bool transposed);

}  // namespace poprt::kernels
