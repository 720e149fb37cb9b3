#pragma once

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {

/// Data [N, C, spatial...] with one or more spatial axes.
BoundKernel BindMaxPool(const KernelCall& call);      ///< output 1: optional indices
BoundKernel BindAveragePool(const KernelCall& call);  ///< count_include_pad
BoundKernel BindLpPool(const KernelCall& call);       ///< p
BoundKernel BindGlobalMaxPool(const KernelCall& call);
BoundKernel BindGlobalAveragePool(const KernelCall& call);
BoundKernel BindGlobalLpPool(const KernelCall& call);  ///< p

/// The geometry of a pooling with a window: kernel_shape, strides, dilations, pads, auto_pad,
/// ceil_mode. Output 0 is checked against it.
struct PoolGeometry {
  std::int64_t planes = 0;  ///< N * C
  Window window;
  Shape input;         ///< spatial extents
  Shape output;        ///< spatial extents
  bool empty = false;  ///< no output elements
};
PoolGeometry CheckPool(const KernelCall& call);

/// The attribute p of LpPool, 1 or more.
std::int64_t ReadNorm(const KernelCall& call);
/// |value|^p.
double PowerOf(double value, std::int64_t p);
/// sum^(1/p).
double RootOf(double sum, std::int64_t p);

}  // namespace poprt::kernels
