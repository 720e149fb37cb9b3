#pragma once

#include "runtime/kernels/kernel.hpp"

/// Operators that sample, crop or rebuild images. Data is [N, C, spatial...] with any number of
/// spatial axes unless stated otherwise.
namespace poprt::kernels {

BoundKernel BindGridSample(const KernelCall& call);  ///< mode, padding_mode, align_corners
/// Data [N, C, H, W], regions [R, 4], their images [R] (int32 or int64).
BoundKernel BindRoiAlign(const KernelCall& call);
/// Data [N, C, H, W], regions [R, 5], of which the first number names the image.
BoundKernel BindMaxRoiPool(const KernelCall& call);
BoundKernel BindCol2Im(const KernelCall& call);      ///< image_shape, block_shape
BoundKernel BindDeformConv(const KernelCall& call);  ///< group, offset_group, the window
BoundKernel BindMaxUnpool(const KernelCall& call);   ///< kernel_shape, output_shape

}  // namespace poprt::kernels
