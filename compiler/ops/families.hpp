#pragma once

#include <span>

#include "compiler/ops/op.hpp"

/// The families of operators, one source file each with the rows and their shape rules.
/// op_table.cpp joins them.
namespace poprt::ops {

std::span<const OpDef> ElementwiseOps();    ///< unary, binary, variadic, Where, Clip, Cast
std::span<const OpDef> ReductionOps();      ///< Reduce*, ArgMax, ArgMin, CumSum
std::span<const OpDef> NormalizationOps();  ///< Softmax, LayerNormalization, LRN, Dropout, ...
std::span<const OpDef> ShapeOps();          ///< Reshape, Squeeze, Transpose, Expand, Shape, ...
std::span<const OpDef> DataMovementOps();   ///< Concat, Split, Slice, Pad, DepthToSpace, ...
std::span<const OpDef> GatherOps();         ///< Gather*, Scatter*
std::span<const OpDef> IndexOps();          ///< TopK, OneHot, Trilu
std::span<const OpDef> GeneratorOps();      ///< Range, ConstantOfShape, EyeLike
std::span<const OpDef> MatMulOps();         ///< MatMul, Gemm
std::span<const OpDef> ConvolutionOps();    ///< Conv, ConvTranspose
std::span<const OpDef> PoolingOps();        ///< MaxPool, AveragePool, GlobalAveragePool, ...
std::span<const OpDef> ResizeOps();         ///< Resize, Upsample

}  // namespace poprt::ops
