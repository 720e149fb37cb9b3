#pragma once

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/packed/packed_testing.hpp"

namespace poprt::kernels::testing {

/// A bind function on blocked images in the form that packed_testing.hpp runs.
template <BoundKernel (*kBind)(const KernelCall&, const ConvMicroKernels&)>
BoundKernel BindBlocked(const KernelCall& call, const InnerLoops& loops) {
  return kBind(call, loops.conv);
}

template <BoundKernel (*kBind)(const KernelCall&, const InnerLoops&)>
BoundKernel BindBlocked(const KernelCall& call, const InnerLoops& loops) {
  return kBind(call, loops);
}

/// A position in a blocked image.
struct BlockedPosition {
  std::int64_t image;
  std::int64_t channel;
  std::int64_t row;
  std::int64_t column;

  /// Of element `i` of a blocked image.
  static BlockedPosition Of(std::int64_t i, const Shape& shape) {
    const std::int64_t lane = i % shape[4];
    i /= shape[4];
    const std::int64_t column = i % shape[3];
    i /= shape[3];
    const std::int64_t row = i % shape[2];
    i /= shape[2];
    return {i / shape[1], i % shape[1] * shape[4] + lane, row, column};
  }
  std::size_t In(const Shape& shape) const {
    const std::int64_t pixel =
        ((image * shape[1] + channel / kBlock) * shape[2] + row) * shape[3] + column;
    return static_cast<std::size_t>(pixel * kBlock + channel % kBlock);
  }
};

}  // namespace poprt::kernels::testing
