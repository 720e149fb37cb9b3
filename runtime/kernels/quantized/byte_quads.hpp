#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels.hpp"
#include "runtime/tensor/element_type.hpp"

/// How operands of 8-bit integers become the unsigned values and signed factors of
/// ByteMicroKernels: those of the other kind are moved by 128, and their zero points with them. The
/// tiles multiply what they are given; differences from zero points follow from sums,
///   sum (v - p)(f - q) = sum v f - q sum v + p (n q - sum f),
/// for values v, factors f, their zero points p and q, and n products. All of it is modulo 2^32.
namespace poprt::kernels {

/// Four times the same byte.
inline constexpr Quad kEveryByte = 0x01010101;

/// What moves a byte by 128.
inline constexpr std::uint8_t kMoved = 0x80;

/// What the bytes of values, or of factors, of that type are combined with by exclusive or.
inline std::uint8_t ValueMove(ElementType element) {
  return element == ElementType::kInt8 ? kMoved : 0;
}
inline std::uint8_t FactorMove(ElementType element) {
  return element == ElementType::kUint8 ? kMoved : 0;
}

/// A zero point among moved values or factors. No points are zeros.
inline std::int32_t ValuePoint(const std::byte* points, std::int64_t index, std::uint8_t move) {
  const auto byte = points == nullptr ? std::uint8_t{0} : static_cast<std::uint8_t>(points[index]);
  return static_cast<std::uint8_t>(byte ^ move);
}
inline std::int32_t FactorPoint(const std::byte* points, std::int64_t index, std::uint8_t move) {
  return static_cast<std::int8_t>(ValuePoint(points, index, move));
}

/// Modulo 2^32.
POPRT_INLINE std::int32_t AddSums(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
POPRT_INLINE std::int32_t MultiplySums(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
}

/// n bytes as factors, and zeros up to the next multiple of four. Returns where they end.
inline Quad* LoadFactors(const std::byte* from, std::int64_t n, std::uint8_t move, Quad* to) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(from);
  auto* out = reinterpret_cast<std::uint8_t*>(to);
  for (std::int64_t i = 0; i < n; ++i) out[i] = bytes[i] ^ move;
  const std::int64_t quads = (n + 3) / 4;
  std::fill(out + n, out + 4 * quads, std::uint8_t{0});
  return to + quads;
}

/// The sum of n factors.
inline std::int32_t SumFactors(const std::byte* from, std::int64_t n, std::uint8_t move) {
  std::int32_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    sum = AddSums(sum, static_cast<std::int8_t>(static_cast<std::uint8_t>(from[i]) ^ move));
  }
  return sum;
}

}  // namespace poprt::kernels
