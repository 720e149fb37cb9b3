#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "runtime/kernels/kernel.hpp"
#include "runtime/tensor/half.hpp"
#include "runtime/tensor/narrow_float.hpp"
#include "runtime/tensor/narrow_integer.hpp"

/// From the element types of operands, known when a kernel is bound, to C++ types.
namespace poprt::kernels {

/// A boolean as tensors store it. Any byte but zero means true, so that a hostile file cannot bring
/// a `bool` into being that is neither.
struct Bool {
  std::uint8_t byte = 0;

  Bool() = default;
  explicit Bool(bool value) : byte(static_cast<std::uint8_t>(value)) {}
  explicit operator bool() const { return byte != 0; }
};

template <typename T>
inline constexpr ElementType kElementOf = ElementType::kUndefined;
template <>
inline constexpr ElementType kElementOf<float> = ElementType::kFloat32;
template <>
inline constexpr ElementType kElementOf<double> = ElementType::kFloat64;
template <>
inline constexpr ElementType kElementOf<Float16> = ElementType::kFloat16;
template <>
inline constexpr ElementType kElementOf<BFloat16> = ElementType::kBFloat16;
template <>
inline constexpr ElementType kElementOf<std::int8_t> = ElementType::kInt8;
template <>
inline constexpr ElementType kElementOf<std::int16_t> = ElementType::kInt16;
template <>
inline constexpr ElementType kElementOf<std::int32_t> = ElementType::kInt32;
template <>
inline constexpr ElementType kElementOf<std::int64_t> = ElementType::kInt64;
template <>
inline constexpr ElementType kElementOf<std::uint8_t> = ElementType::kUint8;
template <>
inline constexpr ElementType kElementOf<std::uint16_t> = ElementType::kUint16;
template <>
inline constexpr ElementType kElementOf<std::uint32_t> = ElementType::kUint32;
template <>
inline constexpr ElementType kElementOf<std::uint64_t> = ElementType::kUint64;
template <>
inline constexpr ElementType kElementOf<Bool> = ElementType::kBool;
template <>
inline constexpr ElementType kElementOf<Float8E4M3FN> = ElementType::kFloat8E4M3FN;
template <>
inline constexpr ElementType kElementOf<Float8E4M3FNUZ> = ElementType::kFloat8E4M3FNUZ;
template <>
inline constexpr ElementType kElementOf<Float8E5M2> = ElementType::kFloat8E5M2;
template <>
inline constexpr ElementType kElementOf<Float8E5M2FNUZ> = ElementType::kFloat8E5M2FNUZ;
template <>
inline constexpr ElementType kElementOf<Float8E8M0> = ElementType::kFloat8E8M0;
template <>
inline constexpr ElementType kElementOf<Float4E2M1> = ElementType::kFloat4E2M1;
template <>
inline constexpr ElementType kElementOf<Int4> = ElementType::kInt4;
template <>
inline constexpr ElementType kElementOf<Uint4> = ElementType::kUint4;
template <>
inline constexpr ElementType kElementOf<Int2> = ElementType::kInt2;
template <>
inline constexpr ElementType kElementOf<Uint2> = ElementType::kUint2;

/// A set of element types, one bit each.
using TypeSet = std::uint32_t;

constexpr TypeSet Types(std::initializer_list<ElementType> types) {
  TypeSet set = 0;
  for (const ElementType type : types) set |= TypeSet{1} << static_cast<unsigned>(type);
  return set;
}

inline constexpr TypeSet kHalfTypes = Types({ElementType::kFloat16, ElementType::kBFloat16});
inline constexpr TypeSet kFloatTypes =
    kHalfTypes | Types({ElementType::kFloat32, ElementType::kFloat64});
inline constexpr TypeSet kSignedTypes =
    Types({ElementType::kInt8, ElementType::kInt16, ElementType::kInt32, ElementType::kInt64});
inline constexpr TypeSet kUnsignedTypes =
    Types({ElementType::kUint8, ElementType::kUint16, ElementType::kUint32, ElementType::kUint64});
inline constexpr TypeSet kIntegerTypes = kSignedTypes | kUnsignedTypes;
inline constexpr TypeSet kNumericTypes = kFloatTypes | kIntegerTypes;
inline constexpr TypeSet kBoolType = Types({ElementType::kBool});
/// What arithmetic and comparison kernels may be given; the types below are stored and converted.
inline constexpr TypeSet kAllTypes = kNumericTypes | kBoolType;
inline constexpr TypeSet kFloat8Types =
    Types({ElementType::kFloat8E4M3FN, ElementType::kFloat8E4M3FNUZ, ElementType::kFloat8E5M2,
           ElementType::kFloat8E5M2FNUZ});
inline constexpr TypeSet kNarrowFloatTypes =
    kFloat8Types | Types({ElementType::kFloat4E2M1, ElementType::kFloat8E8M0});
inline constexpr TypeSet kNarrowIntegerTypes =
    Types({ElementType::kUint4, ElementType::kInt4, ElementType::kUint2, ElementType::kInt2});
/// Everything that has a size: what kernels that only move elements take.
inline constexpr TypeSet kStoredTypes = kAllTypes | kNarrowFloatTypes | kNarrowIntegerTypes;

constexpr bool Contains(TypeSet set, ElementType type) {
  const auto bit = static_cast<unsigned>(type);
  return bit < 32 && (set >> bit & 1U) != 0;
}

/// Throws KernelError unless the element type of `type` is in `allowed`.
void RequireElement(const TensorType& type, TypeSet allowed, std::string_view what);

/// The type arithmetic happens in: float32 for the two half types, else the type itself.
constexpr ElementType ComputeElement(ElementType type) {
  return Contains(kHalfTypes, type) ? ElementType::kFloat32 : type;
}

/// Calls f(std::type_identity<T>{}) with the C++ type of `type`, which must be in kTypes; f is only
/// instantiated for the types in kTypes.
template <typename R, TypeSet kTypes, typename F>
R VisitElement(ElementType type, F&& f) {
#define POPRT_VISIT(T)                                            \
  if constexpr (Contains(kTypes, kElementOf<T>)) {                \
    if (type == kElementOf<T>) return f(std::type_identity<T>{}); \
  }
  POPRT_VISIT(float)
  POPRT_VISIT(double)
  POPRT_VISIT(Float16)
  POPRT_VISIT(BFloat16)
  POPRT_VISIT(std::int8_t)
  POPRT_VISIT(std::int16_t)
  POPRT_VISIT(std::int32_t)
  POPRT_VISIT(std::int64_t)
  POPRT_VISIT(std::uint8_t)
  POPRT_VISIT(std::uint16_t)
  POPRT_VISIT(std::uint32_t)
  POPRT_VISIT(std::uint64_t)
  POPRT_VISIT(Bool)
  POPRT_VISIT(Float8E4M3FN)
  POPRT_VISIT(Float8E4M3FNUZ)
  POPRT_VISIT(Float8E5M2)
  POPRT_VISIT(Float8E5M2FNUZ)
  POPRT_VISIT(Float8E8M0)
  POPRT_VISIT(Float4E2M1)
  POPRT_VISIT(Int4)
  POPRT_VISIT(Uint4)
  POPRT_VISIT(Int2)
  POPRT_VISIT(Uint2)
#undef POPRT_VISIT
  throw KernelError("has no form for " + std::string(ElementName(type)));
}

/// As VisitElement with ComputeElement(type).
template <typename R, TypeSet kTypes, typename F>
R VisitCompute(ElementType type, F&& f) {
  constexpr TypeSet kCompute =
      (kTypes & ~kHalfTypes) |
      ((kTypes & kHalfTypes) != 0 ? Types({ElementType::kFloat32}) : TypeSet{0});
  return VisitElement<R, kCompute>(ComputeElement(type), f);
}

/// Calls f(std::type_identity<T>{}) with the unsigned integer type of the size of `type`: for what
/// only moves elements.
template <typename R, typename F>
R VisitSize(ElementType type, F&& f) {
  switch (ElementSize(type)) {
    case 1:
      return f(std::type_identity<std::uint8_t>{});
    case 2:
      return f(std::type_identity<std::uint16_t>{});
    case 4:
      return f(std::type_identity<std::uint32_t>{});
    case 8:
      return f(std::type_identity<std::uint64_t>{});
    default:
      throw KernelError("has no form for " + std::string(ElementName(type)));
  }
}

}  // namespace poprt::kernels
