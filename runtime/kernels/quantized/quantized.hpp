#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

BoundKernel BindQuantizeLinear(const KernelCall& call);
BoundKernel BindDequantizeLinear(const KernelCall& call);
BoundKernel BindDynamicQuantizeLinear(const KernelCall& call);
BoundKernel BindMatMulInteger(const KernelCall& call);
/// With the attribute `n` the right operand, of 8-bit integers, is a matrix of n columns as
/// PackQuads makes it.
BoundKernel BindQLinearMatMul(const KernelCall& call);
/// "integer_gemm": MatMulInteger with a constant matrix, packed by PackQuads; attribute `n`, its
/// columns. Inputs as those of MatMulInteger, with one zero point for the left operand, and
/// optionally 4, scales of float32 (one, or one per column), and 5, a bias [n] of float32. The
/// result is int32, or float32: the sum as float, times the scale, plus the bias, rounded each
/// time; or with the attributes y_scale and y_point 8-bit integers, which QuantizeLinear makes of
/// such floats.
BoundKernel BindIntegerGemm(const KernelCall& call);
BoundKernel BindConvInteger(const KernelCall& call);
BoundKernel BindQLinearConv(const KernelCall& call);
/// "blocked_byte_max_pool": MaxPool of uint8 in blocks of channels. Attributes kernel_shape,
/// ceil_mode, those of ResolveWindow.
BoundKernel BindByteMaxPool(const KernelCall& call);

/// Positions of QLinearConv's inputs.
struct QLinearConvInput {
  static constexpr std::size_t kX = 0;
  static constexpr std::size_t kXScale = 1;
  static constexpr std::size_t kXPoint = 2;
  static constexpr std::size_t kW = 3;
  static constexpr std::size_t kWScale = 4;
  static constexpr std::size_t kWPoint = 5;
  static constexpr std::size_t kYScale = 6;
  static constexpr std::size_t kYPoint = 7;
  static constexpr std::size_t kBias = 8;
};

/// What floats are quantised to.
inline constexpr TypeSet kQuantizedIntegers =
    kNarrowIntegerTypes |
    Types({ElementType::kInt8, ElementType::kUint8, ElementType::kInt16, ElementType::kUint16});
inline constexpr TypeSet kQuantizedFloats = kFloat8Types | Types({ElementType::kFloat4E2M1});
inline constexpr TypeSet kQuantizedTypes = kQuantizedIntegers | kQuantizedFloats;
inline constexpr TypeSet kByteTypes = Types({ElementType::kInt8, ElementType::kUint8});
/// Those of whole bytes.
inline constexpr TypeSet kByteIntegers =
    kByteTypes | Types({ElementType::kInt16, ElementType::kUint16});

/// Throws KernelError unless `point` has that element type and the shape of `scales`; single
/// numbers may have any shape.
void RequirePoint(const TensorType& point, ElementType element, const TensorType& scales,
                  std::string_view what);

/// The attribute `name`, which must be given and from 0 to 255.
std::uint8_t ByteAttribute(const KernelCall& call, std::string_view name);

/// The attribute `name`, 0 when it is absent: a zero point of output 0, which has a type of
/// kQuantizedIntegers.
float PointAttribute(const KernelCall& call, std::string_view name);

/// Throws KernelError unless the operand `what` is one number.
void RequireOne(const TensorType& type, std::string_view what);

/// Zero points or scales of channels are one number for all, or one for each of `channels`; gives
/// the step from one channel to the next. Throws KernelError for other shapes.
std::int64_t ChannelStride(const TensorType& type, std::int64_t channels, std::string_view what);

/// The memory of input i, null when it is absent.
inline const std::byte* InputOrNull(const KernelArguments& args, std::size_t i) {
  return i < args.inputs.size() ? args.inputs[i] : nullptr;
}

/// The range of a type of kQuantizedIntegers.
struct IntegerRange {
  std::int32_t lowest = 0;
  std::int32_t highest = 0;
};
IntegerRange RangeOf(ElementType element);

/// To the nearest integer, ties to even. The magnitude must be below 2^22 (float), 2^51 (double).
inline float RoundHalfEven(float value) { return (value + 0x1.8p23F) - 0x1.8p23F; }
inline double RoundHalfEven(double value) { return (value + 0x1.8p52) - 0x1.8p52; }

/// The same as the lowest bits of an integer.
POPRT_INLINE std::int32_t LowestBits(double value) {
  return static_cast<std::int32_t>(std::bit_cast<std::int64_t>(value + 0x1.8p52));
}

/// The value, or the limit that it lies beyond. NaN becomes the lowest number.
template <typename C>
POPRT_INLINE C Clip(C value, C lowest, C highest) {
  const C floor = Select(value > lowest, value, lowest);
  return Select(floor < highest, floor, highest);
}

/// The quotient and the zero point added up, clipped and rounded. Clipping to integers commutes
/// with rounding, and keeps what is rounded small. NaN becomes the lowest number.
template <typename C>
POPRT_INLINE std::int32_t ToInteger(C quotient, C point, C lowest, C highest) {
  const C clipped = Clip(quotient, lowest - point, highest - point);
  return static_cast<std::int32_t>(RoundHalfEven(clipped) + point);
}

}  // namespace poprt::kernels
