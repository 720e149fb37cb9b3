#pragma once

#include <cstdint>

namespace poprt {

/// An integer of 4 or 2 bits in a byte of its own. Written, the byte is the value as int8_t or
/// uint8_t; read, only its low bits count, so that no byte of a file is out of range. Converting
/// from an integer keeps the low bits, as between wider integers.
template <int kBits, bool kSigned>
struct NarrowInteger {
  std::uint8_t bits = 0;

  NarrowInteger() = default;
  explicit NarrowInteger(std::int32_t value)
      : bits(static_cast<std::uint8_t>(FromLowBits(static_cast<std::uint32_t>(value)))) {}
  explicit operator std::int32_t() const { return FromLowBits(bits); }
  static NarrowInteger FromBits(std::uint8_t raw) {
    return NarrowInteger(static_cast<std::int32_t>(raw));
  }

  static constexpr std::int32_t kLowest = kSigned ? -(1 << (kBits - 1)) : 0;
  static constexpr std::int32_t kHighest = kLowest + (1 << kBits) - 1;

 private:
  static std::int32_t FromLowBits(std::uint32_t value) {
    const auto low = static_cast<std::int32_t>(value & ((1U << kBits) - 1));
    return low > kHighest ? low - (1 << kBits) : low;
  }
};

using Int4 = NarrowInteger<4, true>;
using Uint4 = NarrowInteger<4, false>;
using Int2 = NarrowInteger<2, true>;
using Uint2 = NarrowInteger<2, false>;

}  // namespace poprt
