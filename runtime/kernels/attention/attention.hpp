#pragma once

#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

/// Y = softmax(scale * Q K^T + mask) V for every batch and head, one block of query rows at a time,
/// so that only the scores of that block are ever in memory.
///
/// Attribute sizes: [batches B, heads H, queries S, keys T, depth D, value depth E], each at least
/// 1. Inputs, all but KEEP float32 or all float16:
///
///   Q, K, V   tensors of any shape that hold [B, H, S, D], [B, H, T, D] and [B, H, T, E] under the
///             attributes q_view, k_view and v_view: [offset, strides of batch, head, row and
///             channel] in elements, strides of 0 repeating. The channels of Q and V follow each
///             other, as do the channels or the rows of K.
///   MASK      optional, broadcasts to [B, H, S, T] without repeating the last axis: added to the
///             scaled scores
///   KEEP      optional, bool, broadcasts like MASK: where it is not keep_if (1 by default) the
///             scaled score becomes `fill` before the mask is added
///
/// Y holds [B, H, S, E] under the attribute y_view and has no other elements. Further attributes:
/// scale (1 by default); visible: query row i sees the first i + visible keys only, at least 1 (all
/// by default).
BoundKernel BindAttention(const KernelCall& call, const InnerLoops& loops);

}  // namespace poprt::kernels
