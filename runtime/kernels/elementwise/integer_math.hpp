#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

/// Arithmetic on any numeric type that never is undefined: integers wrap around, and dividing them
/// by zero gives zero.
namespace poprt::kernels {

/// The unsigned type that `T` computes in without promotion to a signed one.
template <typename T>
using Unsigned = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

template <typename T>
constexpr T WrappingAdd(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
  } else {
    return a + b;
  }
}

template <typename T>
constexpr T WrappingSub(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
  } else {
    return a - b;
  }
}

template <typename T>
constexpr T WrappingMul(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Unsigned<T>>(a) * static_cast<Unsigned<T>>(b));
  } else {
    return a * b;
  }
}

/// Truncates; the lowest integer divided by -1 is itself.
template <typename T>
constexpr T SafeDiv(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return WrappingSub<T>(0, a);
    }
  }
  return static_cast<T>(a / b);
}

/// a - SafeDiv(a, b) * b for integers, zero for b = 0.
template <typename T>
constexpr T SafeRemainder(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

/// base^exponent; zero for negative exponents, except of 1 and -1.
template <typename T>
constexpr T IntegerPower(T base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == T(1)) return 1;
    if (std::is_signed_v<T> && base == T(-1)) return exponent % 2 == 0 ? T(1) : T(-1);
    return 0;
  }
  T power = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0) power = WrappingMul(power, base);
    base = WrappingMul(base, base);
  }
  return power;
}

}  // namespace poprt::kernels
