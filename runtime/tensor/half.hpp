#pragma once

#include <bit>
#include <cstdint>

namespace poprt {

/// IEEE 754 binary16 kept as bits; arithmetic happens in float. Conversions round to nearest even,
/// overflow to infinity and keep NaN a (quiet) NaN.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  explicit Float16(float value) : bits(FromFloat(value)) {}
  explicit operator float() const { return ToFloat(bits); }
  static Float16 FromBits(std::uint16_t raw) {
    Float16 value;
    value.bits = raw;
    return value;
  }

  static constexpr float kMax = 65504.0F;

 private:
  static std::uint16_t FromFloat(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (word >> 16) & 0x8000U;
    const std::uint32_t magnitude = word & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7E00U);
    if (magnitude >= 0x477FF000U) return static_cast<std::uint16_t>(sign | 0x7C00U);
    if (magnitude < 0x38800000U) {
      // Subnormal in half: adding 0.5 leaves the value, rounded to 2^-24, in the low mantissa bits.
      const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
      return static_cast<std::uint16_t>(sign |
                                        (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U));
    }
    const std::uint32_t rounded = magnitude + 0xFFFU + ((magnitude >> 13) & 1U) - 0x38000000U;
    return static_cast<std::uint16_t>(sign | (rounded >> 13));
  }

  static float ToFloat(std::uint16_t half) {
    const std::uint32_t sign = (half & 0x8000U) << 16;
    const std::uint32_t exponent = (half >> 10) & 0x1FU;
    const std::uint32_t mantissa = half & 0x3FFU;
    if (exponent == 0) {
      const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
    const std::uint32_t high = exponent == 31 ? 0x7F800000U : (exponent + 112U) << 23;
    return std::bit_cast<float>(sign | high | (mantissa << 13));
  }
};

/// The upper half of a float32, kept as bits; rounding as for Float16.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const bool is_nan = (word & 0x7FFFFFFFU) > 0x7F800000U;
    bits = static_cast<std::uint16_t>(is_nan ? (word >> 16) | 0x40U
                                             : (word + 0x7FFFU + ((word >> 16) & 1U)) >> 16);
  }
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

}  // namespace poprt
