#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/elementwise/integer_math.hpp"

/// What reductions fold their elements with: C is the computing type, Total (WideOf<C>) what the
/// parts of a result are folded into.
namespace poprt::kernels {

/// The Total of C.
template <typename C>
using WideOf = std::conditional_t<std::is_same_v<C, float>, double, C>;

/// Adds up in C within a block, in double (or the integer type) across blocks.
struct SumFold {
  template <typename C>
  using Partial = C;
  template <typename T>
  static constexpr T Identity() {
    return T(0);
  }
  template <typename T>
  static T Combine(T a, T b) {
    return WrappingAdd(a, b);
  }
  template <typename C>
  static C Map(C x, C /*shift*/) {
    return x;
  }
  static constexpr bool kMaps = false;     // elements are not folded as they are
  static constexpr bool kShifted = false;  // needs the maximum first
  static constexpr bool kSelects = false;  // the result is one of the elements
};

/// Of absolute values.
struct AbsFold : SumFold {
  template <typename C>
  static C Map(C x, C /*shift*/) {
    if constexpr (std::is_floating_point_v<C>) {
      return Abs(x);
    } else {
      return x < C(0) ? WrappingSub<C>(0, x) : x;
    }
  }
  static constexpr bool kMaps = true;
};

/// Of squares.
struct SquareFold : SumFold {
  template <typename C>
  static C Map(C x, C /*shift*/) {
    return WrappingMul(x, x);
  }
  static constexpr bool kMaps = true;
};

/// Of exponentials, of what is left above the maximum.
struct ExpFold : SumFold {
  template <typename C>
  static C Map(C x, C shift) {
    return Exp(x - shift);
  }
  static constexpr bool kMaps = true;
  static constexpr bool kShifted = true;
};

struct ProductFold : SumFold {
  // A product of floats may leave their range on the way.
  template <typename C>
  using Partial = WideOf<C>;
  template <typename T>
  static constexpr T Identity() {
    return T(1);
  }
  template <typename T>
  static T Combine(T a, T b) {
    return WrappingMul(a, b);
  }
};

/// NaN if any element is.
struct MaxFold : SumFold {
  template <typename T>
  static constexpr T Identity() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
  template <typename T>
  static T Combine(T a, T b) {
    return LargerOrNan(a, b);
  }
  static constexpr bool kSelects = true;
};

struct MinFold : SumFold {
  template <typename T>
  static constexpr T Identity() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::max();
  }
  template <typename T>
  static T Combine(T a, T b) {
    return SmallerOrNan(a, b);
  }
  static constexpr bool kSelects = true;
};

}  // namespace poprt::kernels
