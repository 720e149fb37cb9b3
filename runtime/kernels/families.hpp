#pragma once

#include <span>

#include "runtime/kernels/kernel.hpp"

/// The families of kernels, a folder each, but for small ones beside their kin. kernel_table.cpp
/// joins their rows.
namespace poprt::kernels {

std::span<const KernelDef> ElementwiseKernels();    ///< unary, binary, variadic, Where, Clip
std::span<const KernelDef> CastKernels();           ///< Cast
std::span<const KernelDef> ReductionKernels();      ///< Reduce*, ArgMax, ArgMin, Cum*
std::span<const KernelDef> NormalizationKernels();  ///< Softmax, LayerNormalization, LRN, ...
std::span<const KernelDef> DataMovementKernels();   ///< Transpose, Slice, DepthToSpace, ...
std::span<const KernelDef> GatherKernels();         ///< Gather*, Scatter*
std::span<const KernelDef> IndexKernels();          ///< TopK, OneHot, Trilu, ...
std::span<const KernelDef> GeneratorKernels();      ///< Range, ConstantOfShape, EyeLike
std::span<const KernelDef> MatMulKernels();         ///< MatMul, Gemm for any type
std::span<const KernelDef> ConvolutionKernels();    ///< Conv, ConvTranspose for any rank
std::span<const KernelDef> PoolingKernels();    ///< MaxPool, AveragePool, GlobalAveragePool, ...
std::span<const KernelDef> ResizeKernels();     ///< Resize
std::span<const KernelDef> VisionKernels();     ///< GridSample, RoiAlign, Col2Im, DeformConv, ...
std::span<const KernelDef> EinsumKernels();     ///< Einsum
std::span<const KernelDef> SelectionKernels();  ///< NonZero, Unique, Compress, NonMaxSuppression
std::span<const KernelDef> SignalKernels();     ///< DFT, STFT, windows, MelWeightMatrix
std::span<const KernelDef> RecurrentKernels();  ///< RNN, GRU, LSTM
std::span<const KernelDef> MlKernels();         ///< LabelEncoder, TfIdfVectorizer
std::span<const KernelDef> QuantizedKernels();  ///< QuantizeLinear, QLinearConv, MatMulInteger, ...
std::span<const KernelDef> PackedKernels();     ///< gemm, conv2d, ...: tuned, on packed weights
std::span<const KernelDef> BlockedKernels();    ///< blocked_conv2d, ...: tuned, on blocked images
std::span<const KernelDef> AttentionKernels();  ///< attention: tuned
std::span<const KernelDef> RowKernelDefs();     ///< norm_rows, softmax_rows, ...: tuned
std::span<const KernelDef> FusedKernels();      ///< fused_elementwise: a tree in one pass
std::span<const KernelDef> LossKernels();       ///< NegativeLogLikelihoodLoss
std::span<const KernelDef> TreeKernels();       ///< TreeEnsemble
std::span<const KernelDef> RandomKernels();     ///< RandomUniform, RandomNormal, Multinomial

}  // namespace poprt::kernels
