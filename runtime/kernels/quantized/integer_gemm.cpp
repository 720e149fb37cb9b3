#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

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

/// What results in 8-bit integers are quantised with.
struct Quantization {
  float scale = 1;
  float point = 0;
  float lowest = 0;
  float highest = 0;
};

/// Writes parts of rows as int32, or as floats with scale and bias, or as what these quantise to.
struct GemmSink {
  void operator()(std::int64_t /*product*/, std::int64_t row, std::int64_t column,
                  std::int64_t count, const std::int32_t* sums) const {
    const std::int64_t first = row * n + column;
    if (element == ElementType::kInt32) {
      std::copy_n(sums, count, reinterpret_cast<std::int32_t*>(out) + first);
      return;
    }
    if (element == ElementType::kFloat32) {
      Scale(sums, column, count, reinterpret_cast<float*>(out) + first);
      return;
    }
    float floats[kQuadLanes] = {};
    Scale(sums, column, count, floats);
    const Quantization to = quantization;
    std::uint8_t bytes[kQuadLanes];
    for (std::int64_t i = 0; i < kQuadLanes; ++i) {
      // The lowest byte is the number, signed or not.
      bytes[i] = static_cast<std::uint8_t>(
          ToInteger(floats[i] / to.scale, to.point, to.lowest, to.highest));
    }
    std::memcpy(out + first, bytes, static_cast<std::size_t>(count));
  }

  void Scale(const std::int32_t* sums, std::int64_t column, std::int64_t count, float* to) const {
    // A constant number makes loops without a rest.
    if (count == kQuadLanes) {
      return ScaleBy(sums, column, std::integral_constant<std::int64_t, kQuadLanes>(), to);
    }
    ScaleBy(sums, column, count, to);
  }

  template <typename Count>
  POPRT_INLINE void ScaleBy(const std::int32_t* sums, std::int64_t column, Count count,
                            float* to) const {
    if (scales == nullptr) {
      Finish(
          sums, column, count, [](std::int64_t) { return 1.0F; }, to);
    } else if (scale_stride == 0) {
      Finish(
          sums, column, count, [scale = *scales](std::int64_t) { return scale; }, to);
    } else {
      Finish(
          sums, column, count, [from = scales + column](std::int64_t i) { return from[i]; }, to);
    }
  }

  template <typename Count, typename ScaleOf>
  POPRT_INLINE void Finish(const std::int32_t* sums, std::int64_t column, Count count,
                           ScaleOf scale, float* to) const {
    if (bias == nullptr) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(sums[i]) * scale(i);
      return;
    }
    const float* const added = bias + column;
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = static_cast<float>(sums[i]) * scale(i) + added[i];
    }
  }

  std::int64_t n;
  std::byte* out;
  ElementType element;
  Quantization quantization;
  const float* scales;
  std::int64_t scale_stride;
  const float* bias;
};

/// Of a result in 8-bit integers.
Quantization QuantizationOf(const KernelCall& call) {
  const IntegerRange range = RangeOf(call.outputs[0].element);
  const float scale = FloatAttribute(call, "y_scale", 0);
  Require(std::isfinite(scale) && scale > 0,
          "attribute 'y_scale' is " + std::to_string(scale) + ", expected more than 0");
  return {.scale = scale,
          .point = PointAttribute(call, "y_point"),
          .lowest = static_cast<float>(range.lowest),
          .highest = static_cast<float>(range.highest)};
}

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
  RequireElement(call.outputs[0], kByteTypes | Types({ElementType::kInt32, ElementType::kFloat32}),
                 "output 0");
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
  Require(result != ElementType::kInt32 || (!scales.defined() && !bias.defined()),
          "scales and bias need a result of float32 or 8-bit integers");
  const Quantization quantization =
      Contains(kByteTypes, result) ? QuantizationOf(call) : Quantization{};
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
                         .out = args.outputs[0],
                         .element = result,
                         .quantization = quantization,
                         .scales = reinterpret_cast<const float*>(InputOrNull(args, kScales)),
                         .scale_stride = scale_stride,
                         .bias = reinterpret_cast<const float*>(InputOrNull(args, kBias))});
  };
  return {.run = run, .scratch_bytes = product.ScratchBytes()};
}

}  // namespace poprt::kernels
