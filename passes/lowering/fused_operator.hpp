#pragma once

#include "passes/rewrite.hpp"

/// The fused operators of the host backend:
///
///   FusedMatMul(x, w [, bias] [, residual])   x [..., K]; w constant, [K, N], or [N, K] if trans_b
///                                             is 1; as integers with `bits` and `block`, see
///                                             pack_integers.hpp, or in 16 bits with
///                                             `short_weights`, see scaled_panels.hpp
///   FusedConv(x, w [, bias] [, residual])     as Conv with its attributes; w constant
///   BatchMatMul(a, b)                         scale * MatMul(a, b), b with its last two axes
///                                             exchanged if trans_b
///   FusedNorm(x [, scale] [, bias] [, addend]) -> y [, sum]   see the kernel norm_rows
///   FusedAttention(q, k, v [, mask] [, keep]) see the kernel attention
///   SubpixelShuffle(x)                        channels become blocks of pixels: see the kernel
///                                             subpixel_shuffle
///   RoundHalf(x)                              x of float32 rounded to float16
///   FusedElementwise(x, ...)                  a tree of element-wise functions of operands that
///                                             broadcast to the result: see the kernel
///                                             fused_elementwise
///
/// The first two compute activation(product + bias + residual) in float32 and round once. bias is a
/// constant [N] with one value for each column or channel, residual has the type of the result.
/// `activation`: absent, "relu", "clip" (min, max), "gelu_erf", "gelu_tanh", "sigmoid", "tanh",
/// "silu", "hardswish" or "leaky_relu" (alpha).
namespace poprt::passes {

inline constexpr std::size_t kBiasInput = 2;
inline constexpr std::size_t kResidualInput = 3;

/// Types that the fused operators compute with: float32 and float16.
bool IsBackendType(ElementType type);

/// The FusedMatMul or FusedConv without activation that defines the value, or null.
ir::Node* OpenFused(Rewriter& rewriter, ir::ValueId id);

/// Whether the node is RNN, GRU or LSTM.
bool IsRecurrent(const ir::Node& node);

/// Whether the node has an operand there.
bool HasInput(const ir::Node& node, std::size_t i);

/// Makes `node`, which uses the result of `fused`, a copy of `fused` that takes its name; what
/// becomes of the operands and attributes is up to the caller. `fused` itself is left without use.
void BecomeFused(ir::Node& node, ir::Node& fused);

}  // namespace poprt::passes
