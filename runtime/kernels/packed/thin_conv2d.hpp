#pragma once

#include <cstdint>

#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

/// The sizes of a float32 convolution of single pixels with few output channels.
struct ThinConv2dSizes {
  std::int64_t batch;
  std::int64_t group;
  std::int64_t channels;  ///< input channels of a group
  std::int64_t outs;      ///< output channels of a group, at most kThinRows
  std::int64_t pixels;
};

/// "conv2d" of such sizes, whose operands have been checked: reads the planes where they lie.
BoundKernel BindThinConv2d(const KernelCall& call, const ThinConv2dSizes& sizes,
                           const InnerLoops& loops);

}  // namespace poprt::kernels
