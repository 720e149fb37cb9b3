#pragma once

#include "runtime/kernels/kernel.hpp"

/// The bind functions of the kernels that move elements without looking at their values, so that
/// any element type is allowed. data_movement.cpp makes a table of them.
namespace poprt::kernels {

BoundKernel BindBitCast(const KernelCall& call);
BoundKernel BindIdentity(const KernelCall& call);      ///< also Reshape, Flatten, Squeeze, ...
BoundKernel BindTranspose(const KernelCall& call);     ///< perm
BoundKernel BindConcat(const KernelCall& call);        ///< axis
BoundKernel BindSplit(const KernelCall& call);         ///< axis; sizes are those of the outputs
BoundKernel BindSlice(const KernelCall& call);         ///< starts, ends, axes, steps
BoundKernel BindPad(const KernelCall& call);           ///< mode, pads, axes; input 1: the constant
BoundKernel BindExpand(const KernelCall& call);        ///< the output type decides
BoundKernel BindTile(const KernelCall& call);          ///< repeats
BoundKernel BindDepthToSpace(const KernelCall& call);  ///< blocksize, mode
BoundKernel BindSpaceToDepth(const KernelCall& call);  ///< blocksize
BoundKernel BindReverseSequence(const KernelCall& call);  ///< batch_axis, time_axis

/// Throws KernelError unless the element types of operand and output are the same and known;
/// returns the bytes of one element.
std::size_t RequireSameElement(const TensorType& input, const TensorType& output);

/// A kernel that copies the whole of input 0 to output 0, which have the same number of bytes.
BoundKernel CopyWhole(const TensorType& type);

}  // namespace poprt::kernels
