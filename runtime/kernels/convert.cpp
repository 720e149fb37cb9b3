#include "runtime/kernels/convert.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/narrow_half.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kBlock = 1024;

constexpr TypeSet kIntermediateTypes =
    Types({ElementType::kFloat32, ElementType::kFloat64, ElementType::kInt32, ElementType::kInt64,
           ElementType::kUint64});

/// The cheapest intermediate type with all values of `type` on the way to another.
ElementType IntermediateElement(ElementType type, ElementType to) {
  switch (type) {
    case ElementType::kFloat16:
    case ElementType::kBFloat16:
    case ElementType::kFloat8E4M3FN:
    case ElementType::kFloat8E4M3FNUZ:
    case ElementType::kFloat8E5M2:
    case ElementType::kFloat8E5M2FNUZ:
    case ElementType::kFloat8E8M0:
    case ElementType::kFloat4E2M1:
      return ElementType::kFloat32;
    case ElementType::kInt4:
    case ElementType::kUint4:
    case ElementType::kInt2:
    case ElementType::kUint2:
    case ElementType::kBool:
    case ElementType::kInt8:
    case ElementType::kInt16:
    case ElementType::kUint8:
    case ElementType::kUint16:
      return to == ElementType::kFloat32 ? to : ElementType::kInt32;
    case ElementType::kUint32:
      return ElementType::kInt64;
    default:
      return type;
  }
}

/// As float, with the lowest bit set when that is not exact, so that rounding to a narrower type
/// rounds as if from the source.
float RoundToOdd(float value) { return value; }

float RoundToOdd(double value) {
  const auto rounded = static_cast<float>(value);
  const auto back = static_cast<double>(rounded);
  if (back == value || value != value) return rounded;
  auto word = std::bit_cast<std::uint32_t>(rounded);
  if (std::fabs(back) > std::fabs(value)) --word;
  return std::bit_cast<float>(word | 1U);
}

template <typename T>
float RoundToOddInteger(T value) {
  // Two steps, both to odd, round as one; the first keeps 53 of 64 bits.
  auto wide = static_cast<double>(value);
  __extension__ using Wide = __int128;
  const auto back = static_cast<Wide>(wide);
  const auto exact = static_cast<Wide>(value);
  if (back != exact) {
    auto word = std::bit_cast<std::uint64_t>(wide);
    const bool away = (exact < 0) ? back < exact : back > exact;
    if (away) --word;
    wide = std::bit_cast<double>(word | 1U);
  }
  return RoundToOdd(wide);
}

float RoundToOdd(std::int32_t value) { return RoundToOdd(static_cast<double>(value)); }
float RoundToOdd(std::int64_t value) { return RoundToOddInteger(value); }
float RoundToOdd(std::uint64_t value) { return RoundToOddInteger(value); }

template <typename Integer, typename Real>
POPRT_INLINE Integer TruncateTo(Real value) {
  constexpr auto kLow = static_cast<Real>(std::numeric_limits<Integer>::min());
  const bool fits = value >= kLow && value < -kLow;
  return static_cast<Integer>(Select(fits, value, kLow));
}

template <typename To, typename Real>
POPRT_INLINE To RealToInteger(Real value) {
  if constexpr (sizeof(To) < 4 || std::is_same_v<To, std::int32_t>) {
    return static_cast<To>(TruncateTo<std::int32_t>(value));
  } else if constexpr (std::is_same_v<To, std::uint64_t>) {
    constexpr auto kMiddle = static_cast<Real>(0x1p63);
    const bool upper = value >= kMiddle && value < kMiddle * 2;
    const auto low =
        static_cast<std::uint64_t>(TruncateTo<std::int64_t>(upper ? value - kMiddle : value));
    return upper ? low + (std::uint64_t{1} << 63) : low;
  } else {
    return static_cast<To>(TruncateTo<std::int64_t>(value));
  }
}

template <typename To, typename From>
POPRT_INLINE To ConvertValue(From value) {
  if constexpr (std::is_same_v<To, Bool>) {
    return Bool(value != From(0));
  } else if constexpr (std::is_same_v<From, Bool>) {
    return static_cast<To>(static_cast<std::int32_t>(static_cast<bool>(value)));
  } else if constexpr (std::is_same_v<To, Float16> || std::is_same_v<To, BFloat16>) {
    return To(RoundToOdd(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return RealToInteger<To>(value);
  } else if constexpr (Contains(kNarrowIntegerTypes, kElementOf<To>)) {
    return To(ConvertValue<std::int32_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

/// The type between a half type and float needs no selection of special cases by branches, so that
/// these two loops vectorise.
POPRT_INLINE float ConvertHalf(Float16 value) {
  const std::uint32_t sign = (value.bits & 0x8000U) << 16;
  const std::uint32_t rest = (value.bits & 0x7FFFU) << 13;
  // Scaling by 2^112 moves the exponent and makes subnormal numbers normal.
  const float scaled = std::bit_cast<float>(rest) * 0x1p112F;
  const std::uint32_t special = rest | 0x7F800000U;
  const std::uint32_t magnitude =
      Select(rest >= 0x0F800000U, special, std::bit_cast<std::uint32_t>(scaled));
  return std::bit_cast<float>(sign | magnitude);
}
POPRT_INLINE float ConvertHalf(BFloat16 value) { return static_cast<float>(value); }

template <typename From, typename To>
void Loop(const std::byte* from, std::byte* to, std::int64_t n) {
  const From* x = reinterpret_cast<const From*>(from);
  To* y = reinterpret_cast<To*>(to);
  RunWide([=] {
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<From, Float16> || std::is_same_v<From, BFloat16>) {
        y[i] = ConvertHalf(x[i]);
      } else if constexpr (Contains(kNarrowFloatTypes, kElementOf<From>)) {
        y[i] = static_cast<float>(x[i]);
      } else if constexpr (Contains(kNarrowIntegerTypes, kElementOf<From>)) {
        y[i] = static_cast<std::int32_t>(x[i]);
      } else {
        y[i] = ConvertValue<To>(x[i]);
      }
    }
  });
}

/// Float32 to float16, for which there is an instruction.
void HalfLoop(const std::byte* from, std::byte* to, std::int64_t n) {
#if defined(POPRT_X86_KERNELS)
  if (BestInstructionSet() != InstructionSet::kPortable) {
    return NarrowHalvesAvx2(reinterpret_cast<const float*>(from), n,
                            reinterpret_cast<std::uint16_t*>(to));
  }
#endif
  Loop<float, Float16>(from, to, n);
}

template <typename From, typename To, Overflow kOverflow>
void NarrowLoop(const std::byte* from, std::byte* to, std::int64_t n) {
  const From* x = reinterpret_cast<const From*>(from);
  To* y = reinterpret_cast<To*>(to);
  for (std::int64_t i = 0; i < n; ++i) y[i] = To(RoundToOdd(x[i]), kOverflow);
}

template <typename From, Overflow kOverflow, PowerRounding kRounding>
void PowerLoop(const std::byte* from, std::byte* to, std::int64_t n) {
  const From* x = reinterpret_cast<const From*>(from);
  auto* y = reinterpret_cast<Float8E8M0*>(to);
  for (std::int64_t i = 0; i < n; ++i) y[i] = Float8E8M0(RoundToOdd(x[i]), kOverflow, kRounding);
}

template <typename From, Overflow kOverflow>
ConvertLoop FindPowerLoop(PowerRounding rounding) {
  switch (rounding) {
    case PowerRounding::kUp:
      return PowerLoop<From, kOverflow, PowerRounding::kUp>;
    case PowerRounding::kDown:
      return PowerLoop<From, kOverflow, PowerRounding::kDown>;
    case PowerRounding::kNearest:
      break;
  }
  return PowerLoop<From, kOverflow, PowerRounding::kNearest>;
}

template <typename From>
ConvertLoop WidenInteger(ElementType middle) {
  return middle == ElementType::kFloat32 ? Loop<From, float> : Loop<From, std::int32_t>;
}

ConvertLoop FindWiden(ElementType from, ElementType middle) {
  switch (from) {
    case ElementType::kFloat16:
      return Loop<Float16, float>;
    case ElementType::kBFloat16:
      return Loop<BFloat16, float>;
    case ElementType::kFloat8E4M3FN:
      return Loop<Float8E4M3FN, float>;
    case ElementType::kFloat8E4M3FNUZ:
      return Loop<Float8E4M3FNUZ, float>;
    case ElementType::kFloat8E5M2:
      return Loop<Float8E5M2, float>;
    case ElementType::kFloat8E5M2FNUZ:
      return Loop<Float8E5M2FNUZ, float>;
    case ElementType::kFloat8E8M0:
      return Loop<Float8E8M0, float>;
    case ElementType::kFloat4E2M1:
      return Loop<Float4E2M1, float>;
    case ElementType::kInt4:
      return WidenInteger<Int4>(middle);
    case ElementType::kUint4:
      return WidenInteger<Uint4>(middle);
    case ElementType::kInt2:
      return WidenInteger<Int2>(middle);
    case ElementType::kUint2:
      return WidenInteger<Uint2>(middle);
    case ElementType::kBool:
      return WidenInteger<Bool>(middle);
    case ElementType::kInt8:
      return WidenInteger<std::int8_t>(middle);
    case ElementType::kInt16:
      return WidenInteger<std::int16_t>(middle);
    case ElementType::kUint8:
      return WidenInteger<std::uint8_t>(middle);
    case ElementType::kUint16:
      return WidenInteger<std::uint16_t>(middle);
    case ElementType::kUint32:
      return Loop<std::uint32_t, std::int64_t>;
    default:
      return nullptr;
  }
}

template <typename From>
ConvertLoop FindNarrowFrom(ElementType to, const ConvertMode& mode) {
  const bool saturates = mode.overflow == Overflow::kSaturate;
  return VisitElement<ConvertLoop, kStoredTypes>(to, [&](auto type) -> ConvertLoop {
    using To = typename decltype(type)::type;
    if constexpr (std::is_same_v<To, Float8E8M0>) {
      return saturates ? FindPowerLoop<From, Overflow::kSaturate>(mode.rounding)
                       : FindPowerLoop<From, Overflow::kSpecial>(mode.rounding);
    } else if constexpr (Contains(kNarrowFloatTypes, kElementOf<To>)) {
      return saturates ? NarrowLoop<From, To, Overflow::kSaturate>
                       : NarrowLoop<From, To, Overflow::kSpecial>;
    } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, Float16>) {
      return HalfLoop;
    } else {
      return Loop<From, To>;
    }
  });
}

ConvertLoop FindNarrow(ElementType from, ElementType to, const ConvertMode& mode) {
  return VisitElement<ConvertLoop, kIntermediateTypes>(
      from, [&](auto type) { return FindNarrowFrom<typename decltype(type)::type>(to, mode); });
}

}  // namespace

Converter::Converter(ElementType from, ElementType to, const ConvertMode& mode)
    : from_bytes_(ElementSize(from)), to_bytes_(ElementSize(to)), is_copy_(from == to) {
  if (is_copy_) return;
  const ElementType middle = IntermediateElement(from, to);
  widen_ = FindWiden(from, middle);
  if (middle != to) narrow_ = FindNarrow(middle, to, mode);
}

void Converter::operator()(const std::byte* from, std::byte* to, std::int64_t n) const {
  if (n <= 0) return;
  if (is_copy_) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * from_bytes_);
  } else if (widen_ == nullptr || narrow_ == nullptr) {
    (widen_ == nullptr ? narrow_ : widen_)(from, to, n);
  } else {
    alignas(64) std::byte middle[kBlock * 8];
    for (std::int64_t i = 0; i < n; i += kBlock) {
      const std::int64_t block = std::min(kBlock, n - i);
      widen_(from + static_cast<std::size_t>(i) * from_bytes_, middle, block);
      narrow_(middle, to + static_cast<std::size_t>(i) * to_bytes_, block);
    }
  }
}

}  // namespace poprt::kernels
