#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/quantized/integer_product.hpp"
#include "runtime/kernels/quantized/pack_quads.hpp"
#include "runtime/kernels/quantized/quantized.hpp"

namespace poprt::kernels {
namespace {

/// Positions of the inputs.
enum Input : std::size_t { kA, kB, kAPoint, kBPoints, kScales, kBias };

/// What IntegerProduct reads.
struct GemmOperands {
  const std::byte* A(std::int64_t /*product*/) const { return a; }
  const std::byte* B(std::int64_t /*product*/) const { return b; }
  static std::int64_t APoint(std::int64_t /*product*/, std::int64_t /*row*/) { return 0; }
  std::int64_t BPoint(std::int64_t /*product*/, std::int64_t column) const {
    return column * b_stride;
  }

  const std::byte* a;
  const std::byte* b;
  const std::byte* a_points;
  const std::byte* b_points;
  std::int64_t b_stride;
};

/// Writes parts of rows as int32, or as floats with scale and bias.
struct GemmSink {
  void operator()(std::int64_t /*product*/, std::int64_t row, std::int64_t column,
                  std::int64_t count, const std::int32_t* sums) const {
    if (floats == nullptr) {
      std::copy_n(sums, count, integers + row * n + column);
      return;
    }
    float* to = floats + row * n + column;
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(sums[i]);
    for (std::int64_t i = 0; scales != nullptr && i < count; ++i) {
      to[i] *= scales[(column + i) * scale_stride];
    }
    for (std::int64_t i = 0; bias != nullptr && i < count; ++i) to[i] += bias[column + i];
  }

  std::int64_t n;
  std::int32_t* integers;
  float* floats;  // null: integers
  const float* scales;
  std::int64_t scale_stride;
  const float* bias;
};

}  // namespace

BoundKernel BindIntegerGemm(const KernelCall& call) {
  RequireArity(call, 2, 6);
  const TensorType& a = call.inputs[kA];
  const TensorType& b = call.inputs[kB];
  RequireElement(a, kByteTypes, "input 0");
  RequireElement(b, kByteTypes, "input 1");
  Require(!a.shape.empty(), "input 0 must have rank 1 or more");
  const std::int64_t n = IntAttribute(call, "n", 0);
  const std::int64_t depth = a.shape.back();
  RequireType(b, PackedQuadsType(depth, n, b.element), "input 1");
  Shape wanted = a.shape;
  wanted.back() = n;
  const ElementType result = call.outputs[0].element;
  RequireElement(call.outputs[0], Types({ElementType::kInt32, ElementType::kFloat32}), "output 0");
  RequireType(call.outputs[0], {result, wanted}, "output 0");
  const TensorType& a_point = InputOrAbsent(call, kAPoint);
  const TensorType& b_points = InputOrAbsent(call, kBPoints);
  const TensorType& scales = InputOrAbsent(call, kScales);
  const TensorType& bias = InputOrAbsent(call, kBias);
  if (a_point.defined()) {
    RequireElement(a_point, Types({a.element}), "input 2");
    RequireOne(a_point, "input 2");
  }
  std::int64_t b_stride = 0;
  if (b_points.defined()) {
    RequireElement(b_points, Types({b.element}), "input 3");
    b_stride = ChannelStride(b_points, n, "input 3");
  }
  std::int64_t scale_stride = 0;
  if (scales.defined()) {
    RequireElement(scales, Types({ElementType::kFloat32}), "input 4");
    scale_stride = ChannelStride(scales, n, "input 4");
  }
  if (bias.defined()) RequireType(bias, {ElementType::kFloat32, {n}}, "input 5");
  const bool is_float = result == ElementType::kFloat32;
  Require(is_float || (!scales.defined() && !bias.defined()),
          "scales and bias need a result of float32");
  const std::int64_t rows = RequireCount(wanted, "the output") / n;
  if (rows == 0) return NothingToRun();
  const IntegerProduct product({.products = 1, .rows = rows, .columns = n, .depth = depth},
                               a.element, b.element, IntegerProduct::Right::kPacked);
  const auto run = [=](const KernelArguments& args) {
    const GemmOperands operands{.a = args.inputs[kA],
                                .b = args.inputs[kB],
                                .a_points = InputOrNull(args, kAPoint),
                                .b_points = InputOrNull(args, kBPoints),
                                .b_stride = b_stride};
    product.Run(args, operands,
                GemmSink{.n = n,
                         .integers = is_float ? nullptr : args.out<std::int32_t>(0),
                         .floats = is_float ? args.out<float>(0) : nullptr,
                         .scales = reinterpret_cast<const float*>(InputOrNull(args, kScales)),
                         .scale_stride = scale_stride,
                         .bias = reinterpret_cast<const float*>(InputOrNull(args, kBias))});
  };
  return {.run = run, .scratch_bytes = product.ScratchBytes()};
}

}  // namespace poprt::kernels
