#include "runtime/kernels/packed/packed_kernels.hpp"

#include <algorithm>
#include <string>

#include "runtime/kernels/bind_best.hpp"
#include "runtime/kernels/families.hpp"

namespace poprt::kernels {

bool RequireHalfOrFloat(ElementType element, std::string_view what) {
  if (element == ElementType::kFloat16) return true;
  if (element == ElementType::kFloat32) return false;
  throw KernelError(std::string(what) + " is " + std::string(ElementName(element)) +
                    ", allowed are float32 and float16");
}

void RequireBiasAndResidual(const KernelCall& call, std::int64_t channels) {
  if (const TensorType& bias = InputOrAbsent(call, 2); bias.defined()) {
    RequireType(bias, {ElementType::kFloat32, {channels}}, "the bias, input 2,");
  }
  if (const TensorType& residual = InputOrAbsent(call, 3); residual.defined()) {
    RequireType(residual, call.outputs[0], "the residual, input 3,");
  }
}

GemmShape RequireGemm(const KernelCall& call) {
  RequireArity(call, 2, 4);
  const TensorType& a = call.inputs[0];
  const bool half = RequireHalfOrFloat(a.element, "input 0");
  Require(!a.shape.empty(), "input 0 is a scalar, expected is rank 1 or more");
  TensorType result = a;
  result.shape.back() = RequirePositive(call.attributes, "n");
  const GemmShape shape{.half = half,
                        .rows = ElementCount(Shape(a.shape.begin(), a.shape.end() - 1)),
                        .columns = result.shape.back(),
                        .depth = a.shape.back()};
  Require(std::max({shape.rows, shape.columns, shape.depth}) <= kLargestMatrixExtent,
          "an extent is larger than 2^40");
  RequireType(call.outputs[0], result, "output 0");
  RequireBiasAndResidual(call, shape.columns);
  return shape;
}

std::size_t FloatScratchBytes(std::int64_t floats) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 28;
  Require(floats >= 0 && floats <= kLimit, "needs more than 1 GiB of scratch memory per thread");
  return ScratchBytes(static_cast<std::size_t>(floats) * sizeof(float));
}

Image RequireImage(const TensorType& type, std::string_view what) {
  if (type.shape.size() != 4) {
    throw KernelError(std::string(what) + " is " + ToString(type) + ", expected is rank 4");
  }
  return {type.shape[0], type.shape[1], type.shape[2], type.shape[3]};
}

Ints RequireKernelShape(const Attributes& attributes) {
  Ints kernel = attributes.get_ints("kernel_shape");
  Require(kernel.size() == 2 && kernel[0] >= 1 && kernel[1] >= 1,
          "attribute kernel_shape must hold two extents of at least 1");
  return kernel;
}

std::int64_t RequirePositive(const Attributes& attributes, std::string_view name) {
  const std::int64_t value = attributes.get_int(name, 0);
  if (value >= 1) return value;
  throw KernelError("attribute " + std::string(name) + " is " +
                    (attributes.has(name) ? std::to_string(value) : "missing") +
                    ", it must be at least 1");
}

std::span<const KernelDef> PackedKernels() {
  static constexpr KernelDef kKernels[] = {
      {"batch_matmul", GuardedBind<BindBest<BindBatchMatMul>>},
      {"conv2d", GuardedBind<BindBest<BindConv2d>>},
      {"depthwise_conv2d", GuardedBind<BindBest<BindDepthwiseConv2d>>},
      {"gemm", GuardedBind<BindBest<BindGemm>>},
  };
  return kKernels;
}

}  // namespace poprt::kernels
