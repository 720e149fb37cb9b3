#pragma once

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

BoundKernel BindQuantizeLinear(const KernelCall& call);
BoundKernel BindDequantizeLinear(const KernelCall& call);
BoundKernel BindDynamicQuantizeLinear(const KernelCall& call);
BoundKernel BindMatMulInteger(const KernelCall& call);
BoundKernel BindQLinearMatMul(const KernelCall& call);
/// "integer_gemm": MatMulInteger with a constant matrix, packed by PackQuads; attribute `n`, its
/// columns. Inputs as those of MatMulInteger, with one zero point for the left operand, and
/// optionally 4, scales of float32 (one, or one per column), and 5, a bias [n] of float32. The
/// result is int32, or float32: the sum as float, times the scale, plus the bias, rounded each
/// time.
BoundKernel BindIntegerGemm(const KernelCall& call);
BoundKernel BindConvInteger(const KernelCall& call);
BoundKernel BindQLinearConv(const KernelCall& call);

/// What floats are quantised to.
inline constexpr TypeSet kQuantizedIntegers =
    kNarrowIntegerTypes |
    Types({ElementType::kInt8, ElementType::kUint8, ElementType::kInt16, ElementType::kUint16});
inline constexpr TypeSet kQuantizedFloats = kFloat8Types | Types({ElementType::kFloat4E2M1});
inline constexpr TypeSet kQuantizedTypes = kQuantizedIntegers | kQuantizedFloats;
inline constexpr TypeSet kByteTypes = Types({ElementType::kInt8, ElementType::kUint8});

/// Throws KernelError unless `point` has that element type and the shape of `scales`; single
/// numbers may have any shape.
void RequirePoint(const TensorType& point, ElementType element, const TensorType& scales,
                  std::string_view what);

/// The range of a type of kQuantizedIntegers.
struct IntegerRange {
  std::int32_t lowest = 0;
  std::int32_t highest = 0;
};
IntegerRange RangeOf(ElementType element);

/// To the nearest integer, ties to even. The magnitude must be below 2^22 (float), 2^51 (double).
inline float RoundHalfEven(float value) { return (value + 0x1.8p23F) - 0x1.8p23F; }
inline double RoundHalfEven(double value) { return (value + 0x1.8p52) - 0x1.8p52; }

}  // namespace poprt::kernels
