#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace poprt {

/// What a float of 8 or 4 bits does with magnitudes beyond its largest number, and with infinity.
enum class Overflow : std::uint8_t {
  kSaturate,  ///< to the largest number
  kSpecial,   ///< to infinity where the form has one, else to NaN
};

/// How a float is rounded to a power of two (Float8E8M0).
enum class PowerRounding : std::uint8_t {
  kUp,       ///< away from zero
  kDown,     ///< towards zero
  kNearest,  ///< to the nearer power, up from the middle
};

/// Which codes of a narrow float are no numbers.
enum class NarrowSpecials : std::uint8_t {
  kIeee,         ///< highest exponent: infinity and NaNs
  kNan,          ///< all bits but the sign set: NaN; no infinity ("FN")
  kNegativeNan,  ///< the code of -0 is the only NaN; no infinity ("FNUZ")
  kNone,         ///< every code is a number
};

/// A float of 8 bits or fewer kept as its code, the sign on top of the exponent on top of the
/// mantissa; bits above are ignored. Converting it to float is exact; from float it is rounded to
/// nearest even once. NaN becomes a NaN or, where the form has none, -0.
template <int kExponentBits, int kMantissaBits, int kBias, NarrowSpecials kSpecials>
struct NarrowFloat {
  std::uint8_t bits = 0;

  NarrowFloat() = default;
  explicit NarrowFloat(float value, Overflow overflow = Overflow::kSaturate)
      : bits(Encode(value, overflow)) {}
  explicit operator float() const { return kValues[bits]; }
  static constexpr NarrowFloat FromBits(std::uint8_t raw) {
    NarrowFloat value;
    value.bits = raw;
    return value;
  }

 private:
  static constexpr int kWidth = 1 + kExponentBits + kMantissaBits;
  static constexpr unsigned kSign = 1U << (kWidth - 1);
  /// The exponent of the subnormal numbers and of the smallest normal ones.
  static constexpr int kLowest = 1 - kBias;
  static constexpr unsigned kInfinity = ((1U << kExponentBits) - 1) << kMantissaBits;
  static constexpr unsigned kLargest = kSpecials == NarrowSpecials::kIeee  ? kInfinity - 1
                                       : kSpecials == NarrowSpecials::kNan ? kSign - 2
                                                                           : kSign - 1;

  static constexpr float PowerOfTwo(int exponent) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
  }

  static constexpr bool IsNan(unsigned code) {
    const unsigned magnitude = code & (kSign - 1);
    switch (kSpecials) {
      case NarrowSpecials::kIeee:
        return magnitude > kInfinity;
      case NarrowSpecials::kNan:
        return magnitude == kSign - 1;
      case NarrowSpecials::kNegativeNan:
        return code == kSign;
      case NarrowSpecials::kNone:
        break;
    }
    return false;
  }

  static constexpr float Decode(unsigned code) {
    const std::uint32_t sign = (code & kSign) != 0 ? 0x80000000U : 0;
    const unsigned magnitude = code & (kSign - 1);
    if (IsNan(code & (2 * kSign - 1))) return std::bit_cast<float>(sign | 0x7FC00000U);
    if (kSpecials == NarrowSpecials::kIeee && magnitude == kInfinity) {
      return std::bit_cast<float>(sign | 0x7F800000U);
    }
    const auto exponent = static_cast<int>(magnitude >> kMantissaBits);
    const unsigned mantissa = magnitude & ((1U << kMantissaBits) - 1);
    const float value = exponent == 0
                            ? static_cast<float>(mantissa) * PowerOfTwo(kLowest - kMantissaBits)
                            : static_cast<float>(mantissa + (1U << kMantissaBits)) *
                                  PowerOfTwo(exponent - kBias - kMantissaBits);
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
  }

  static std::uint8_t Nan(unsigned sign) {
    const bool has_nan_of_both_signs =
        kSpecials == NarrowSpecials::kIeee || kSpecials == NarrowSpecials::kNan;
    return static_cast<std::uint8_t>(has_nan_of_both_signs ? sign | (kSign - 1) : kSign);
  }

  static std::uint8_t Encode(float value, Overflow overflow) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const unsigned sign = (word >> 31) != 0 ? kSign : 0;
    const std::uint32_t magnitude = word & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) return Nan(sign);
    const unsigned code = RoundMagnitude(magnitude);
    if (code > kLargest) {
      if (overflow == Overflow::kSaturate || kSpecials == NarrowSpecials::kNone) {
        return static_cast<std::uint8_t>(sign | kLargest);
      }
      return kSpecials == NarrowSpecials::kIeee ? static_cast<std::uint8_t>(sign | kInfinity)
                                                : Nan(sign);
    }
    const bool is_unsigned_zero = code == 0 && kSpecials == NarrowSpecials::kNegativeNan;
    return static_cast<std::uint8_t>(is_unsigned_zero ? 0 : sign | code);
  }

  /// The code of the nearest number if exponents were unbounded above, or something larger than
  /// all codes.
  static unsigned RoundMagnitude(std::uint32_t magnitude) {
    const int exponent = static_cast<int>(magnitude >> 23) - 127;
    if (exponent > kLowest + (1 << kExponentBits)) return 1U << 8;
    if (exponent < kLowest - kMantissaBits - 1) return 0;
    // Down to the significand of the result the bits are shifted out, more for subnormal numbers.
    const int denormal = exponent < kLowest ? kLowest - exponent : 0;
    const int shift = 23 - kMantissaBits + denormal;
    const std::uint32_t significand = (magnitude & 0x7FFFFFU) | 0x800000U;
    const std::uint32_t half = 1U << (shift - 1);
    const std::uint32_t odd = (significand >> shift) & 1U;
    const std::uint32_t rounded = (significand + half - 1 + odd) >> shift;
    // The leading bit of the significand adds one to the exponent, and so does a carry.
    const int base = denormal > 0 ? 0 : exponent - kLowest;
    return (static_cast<unsigned>(base) << kMantissaBits) + rounded;
  }

  static constexpr std::array<float, 256> kValues = [] {
    std::array<float, 256> values{};
    for (unsigned code = 0; code < 256; ++code) values[code] = Decode(code & (2 * kSign - 1));
    return values;
  }();
};

using Float8E4M3FN = NarrowFloat<4, 3, 7, NarrowSpecials::kNan>;
using Float8E4M3FNUZ = NarrowFloat<4, 3, 8, NarrowSpecials::kNegativeNan>;
using Float8E5M2 = NarrowFloat<5, 2, 15, NarrowSpecials::kIeee>;
using Float8E5M2FNUZ = NarrowFloat<5, 2, 16, NarrowSpecials::kNegativeNan>;
/// In the low half of its byte.
using Float4E2M1 = NarrowFloat<2, 1, 1, NarrowSpecials::kNone>;

/// A power of two between 2^-127 and 2^127 as its exponent plus 127; code 255 is NaN. It has
/// neither sign nor zero: the sign of what is converted to it is dropped.
struct Float8E8M0 {
  std::uint8_t bits = 0;

  Float8E8M0() = default;
  /// Infinity, zero and what is out of range become the nearest power of two or NaN, as `overflow`
  /// says. What lies between the smallest power and zero is out of range.
  explicit Float8E8M0(float value, Overflow overflow = Overflow::kSaturate,
                      PowerRounding rounding = PowerRounding::kUp)
      : bits(Encode(value, overflow, rounding)) {}
  explicit operator float() const {
    if (bits == 255) return std::bit_cast<float>(0x7FC00000U);
    // The lowest power is a subnormal number.
    return std::bit_cast<float>(bits == 0 ? 0x00400000U : std::uint32_t{bits} << 23);
  }
  static Float8E8M0 FromBits(std::uint8_t raw) {
    Float8E8M0 value;
    value.bits = raw;
    return value;
  }

 private:
  static std::uint8_t Encode(float value, Overflow overflow, PowerRounding rounding) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU;
    const bool saturates = overflow == Overflow::kSaturate;
    if (magnitude > 0x7F800000U) return 255;
    if (magnitude == 0x7F800000U) return saturates ? 254 : 255;
    if (magnitude < 0x00400000U) return saturates ? 0 : 255;
    // Below 2^-126 the leading bit of the significand is explicit.
    const std::uint32_t code = magnitude >> 23;
    const std::uint32_t rest = code == 0 ? (magnitude << 1) & 0x7FFFFFU : magnitude & 0x7FFFFFU;
    const bool up = rounding == PowerRounding::kUp        ? rest != 0
                    : rounding == PowerRounding::kNearest ? rest >= 0x400000U
                                                          : false;
    const std::uint32_t rounded = code + (up ? 1 : 0);
    return static_cast<std::uint8_t>(rounded == 255 && saturates ? 254 : rounded);
  }
};

}  // namespace poprt
