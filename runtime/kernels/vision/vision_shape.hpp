#pragma once

#include "runtime/kernels/window/window.hpp"

/// Geometry of operators whose output shape takes some computing, for kernels and shape rules
/// alike. The functions throw KernelError when the numbers make no sense and std::invalid_argument
/// when an attribute has the wrong type.
namespace poprt::kernels {

/// Col2Im: the window that was slid over the image, and how many blocks that made.
struct BlockGeometry {
  Window window;
  Shape blocks;  ///< per spatial axis
  Shape output;  ///< [N, C, image...]
};

/// Reads image_shape, block_shape, strides, dilations and pads. `input` is [N, C * block, blocks].
BlockGeometry ResolveBlocks(const Attributes& attributes, const Shape& input);

/// MaxUnpool: the tensor that the indices count in, and the output, which holds it in its first
/// corner.
struct UnpoolGeometry {
  Shape indexed;
  Shape output;
};

/// Reads kernel_shape, strides, pads and output_shape, which may be larger than what the window
/// covers. Where it is smaller along some axis, the pads are not those of the pooling, and indices
/// count in the output itself.
UnpoolGeometry ResolveUnpool(const Attributes& attributes, const Shape& input);

}  // namespace poprt::kernels
