#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/kernel.hpp"

/// The tuned kernels, with the inner loops given so that tests can compare processors.
namespace poprt::kernels {

/// Y[M, n] = act(A[M, K] * W + bias + residual).
///
/// Inputs: A float32 or float16 of rank >= 1, whose last extent is K and whose other extents
/// multiply to M; W of PackedGemmType(K, n, any) or, for float32, scaled (scaled_panels.hpp);
/// optionally bias float32[n]; optionally residual of Y's type. Y has A's element type and its
/// shape with n for K. Attributes: n, those of EpilogueWithActivation.
BoundKernel BindGemm(const KernelCall& call, const InnerLoops& loops);

/// Two-dimensional convolution in NCHW, Y = act(conv(X, W) + bias + residual).
///
/// Inputs: X [B, C, H, W] float32 or float16; W of PackedConv2dType; optionally bias
/// float32[out_channels]; optionally residual of Y's type. Attributes: out_channels, kernel_shape,
/// group, those of ResolveWindow, those of EpilogueWithActivation.
BoundKernel BindConv2d(const KernelCall& call, const InnerLoops& loops);

/// As "conv2d" with group == C, for any multiple of C output channels; W of PackedDepthwiseType.
/// The attribute group is not read.
BoundKernel BindDepthwiseConv2d(const KernelCall& call, const InnerLoops& loops);

/// Y = act(scale * A * B) for A [..., M, K] and B [..., K, N], or [..., N, K] with the attribute
/// trans_b = 1. Both float32 or both float16, rank >= 2; the leading extents broadcast. Attributes:
/// trans_b, scale (1 by default), those of EpilogueWithActivation.
BoundKernel BindBatchMatMul(const KernelCall& call, const InnerLoops& loops);

// ---- What these share --------------------------------------------------------------------------

/// True for float16, false for float32; throws for other types, naming the operand.
bool RequireHalfOrFloat(ElementType element, std::string_view what);

/// Checks the optional operands bias (float32[channels], input 2) and residual (output's type, 3).
void RequireBiasAndResidual(const KernelCall& call, std::int64_t channels);

/// Limit of one extent of a product, so that sums and small multiples of extents cannot overflow.
inline constexpr std::int64_t kLargestMatrixExtent = std::int64_t{1} << 40;

/// What "gemm" and "weight_only_gemm" compute. Checks all of the call but the type of the weights.
struct GemmShape {
  bool half;  ///< A and Y are float16 instead of float32
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
};
GemmShape RequireGemm(const KernelCall& call);

/// Bytes of `floats` floats, rounded up to 64; throws when that is more than 1 GiB.
std::size_t FloatScratchBytes(std::int64_t floats);

/// Batch, channels, height and width of operand `what`; throws unless its rank is 4.
struct Image {
  std::int64_t batch;
  std::int64_t channels;
  std::int64_t height;
  std::int64_t width;
};
Image RequireImage(const TensorType& type, std::string_view what);

/// The attribute kernel_shape: two extents of at least 1.
Ints RequireKernelShape(const Attributes& attributes);

/// The attribute `name`, which must be given and at least 1.
std::int64_t RequirePositive(const Attributes& attributes, std::string_view name);

/// The worker's part of the scratch memory.
inline float* WorkerScratch(const KernelArguments& args, int worker, std::size_t bytes) {
  return reinterpret_cast<float*>(args.scratch + static_cast<std::size_t>(worker) * bytes);
}

}  // namespace poprt::kernels
