#pragma once

#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/shape.hpp"

/// Geometry of sliding windows (convolutions, pooling), for kernels and shape rules alike. The
/// functions take the spatial extents only, without batch and channels, any rank >= 1. They throw
/// KernelError when the numbers make no sense and std::invalid_argument when an attribute has the
/// wrong type. After a success no extent or offset overflows int64.
namespace poprt::kernels {

/// A resolved window; every list has one number per spatial axis.
struct Window {
  Ints kernel;
  Ints strides;
  Ints dilations;
  Ints pads_begin;
  Ints pads_end;

  /// Input positions between the first and one past the last tap of the window along `axis`.
  std::int64_t Reach(std::size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
  bool operator==(const Window&) const = default;
};

/// Reads strides, dilations, pads and auto_pad (NOTSET, VALID, SAME_UPPER, SAME_LOWER) with the
/// defaults of ONNX. `kernel` is the weights' spatial shape or the attribute kernel_shape.
Window ResolveWindow(const Attributes& attributes, const Shape& input_spatial, const Ints& kernel);

/// Output extents of a convolution or pooling. In ceil mode a last window that would start behind
/// the input and its begin padding is left out (ONNX opset 22).
Shape WindowOutputExtents(const Window& window, const Shape& input_spatial, bool ceil_mode);

/// Whether every output position reads the input at its own place and nowhere else.
bool ReadsEveryPixelOnce(const Window& window);

/// Geometry of ConvTranspose: the window of the convolution it transposes, and its output extents.
struct TransposedWindow {
  Window window;
  Shape output;
};

/// Reads strides, dilations, pads, auto_pad, output_padding and output_shape.
TransposedWindow ResolveTransposedWindow(const Attributes& attributes, const Shape& input_spatial,
                                         const Ints& kernel);

}  // namespace poprt::kernels
