#pragma once

#include <span>

#include "compiler/ops/op.hpp"

/// The families of operators, one source file each with the rows and their shape rules.
/// op_table.cpp joins them.
namespace poprt::ops {

std::span<const OpDef> ElementwiseOps();    ///< unary, binary, variadic, Where, Clip, Cast
std::span<const OpDef> ReductionOps();      ///< Reduce*, ArgMax, ArgMin, Cum*
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
std::span<const OpDef> VisionOps();         ///< GridSample, RoiAlign, Col2Im, DeformConv, ...
std::span<const OpDef> EinsumOps();         ///< Einsum
std::span<const OpDef> SelectionOps();      ///< NonZero, Unique, Compress, NonMaxSuppression
std::span<const OpDef> SignalOps();         ///< DFT, STFT, windows, MelWeightMatrix
std::span<const OpDef> RecurrentOps();      ///< RNN, GRU, LSTM
std::span<const OpDef> MlOps();             ///< LabelEncoder, TfIdfVectorizer
std::span<const OpDef> QuantizationOps();   ///< QuantizeLinear, QLinearConv, MatMulInteger, ...
std::span<const OpDef> LossOps();           ///< NegativeLogLikelihoodLoss
std::span<const OpDef> TreeOps();           ///< TreeEnsemble
std::span<const OpDef> RandomOps();         ///< RandomUniform, RandomNormal, Multinomial
std::span<const OpDef> ControlFlowOps();    ///< If, Loop, Scan

}  // namespace poprt::ops
