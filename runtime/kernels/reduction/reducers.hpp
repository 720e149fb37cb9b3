#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/elementwise/integer_math.hpp"

/// The reductions that reduce.cpp applies: C is the computing type, Total what the parts of a
/// result are folded into.
namespace poprt::kernels {

/// The Total of C.
template <typename C>
using WideOf = std::conditional_t<std::is_same_v<C, float>, double, C>;

/// Adds up in C within a block, in double (or the integer type) across blocks.
struct Additive {
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
  template <typename C, typename Total>
  static C Finish(Total total, std::int64_t /*count*/, C /*shift*/) {
    return static_cast<C>(total);
  }
  static constexpr bool kShifted = false;    // needs the maximum first
  static constexpr bool kOnlyFloat = false;  // computes integers in double
  static constexpr bool kSelects = false;    // the result is one of the elements
};

struct SumReducer : Additive {};

struct MeanReducer : Additive {
  template <typename C, typename Total>
  static C Finish(Total total, std::int64_t count, C /*shift*/) {
    if constexpr (std::is_integral_v<C>) {
      return SafeDiv(total, static_cast<C>(count));
    } else {
      return static_cast<C>(total / static_cast<Total>(count));
    }
  }
};

struct L1Reducer : Additive {
  template <typename C>
  static C Map(C x, C /*shift*/) {
    if constexpr (std::is_floating_point_v<C>) {
      return Abs(x);
    } else {
      return x < C(0) ? WrappingSub<C>(0, x) : x;
    }
  }
};

struct SumSquareReducer : Additive {
  template <typename C>
  static C Map(C x, C /*shift*/) {
    return WrappingMul(x, x);
  }
};

struct L2Reducer : SumSquareReducer {
  template <typename C, typename Total>
  static C Finish(Total total, std::int64_t /*count*/, C /*shift*/) {
    return static_cast<C>(Sqrt(total));
  }
  static constexpr bool kOnlyFloat = true;
};

struct LogSumReducer : Additive {
  template <typename C, typename Total>
  static C Finish(Total total, std::int64_t /*count*/, C /*shift*/) {
    return static_cast<C>(std::log(total));
  }
  static constexpr bool kOnlyFloat = true;
};

struct LogSumExpReducer : Additive {
  template <typename C>
  static C Map(C x, C shift) {
    return Exp(x - shift);
  }
  template <typename C, typename Total>
  static C Finish(Total total, std::int64_t /*count*/, C shift) {
    return static_cast<C>(std::log(total) + static_cast<Total>(shift));
  }
  static constexpr bool kShifted = true;
  static constexpr bool kOnlyFloat = true;
};

struct ProdReducer : Additive {
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
struct MaxReducer : Additive {
  template <typename T>
  static constexpr T Identity() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
  template <typename T>
  static T Combine(T a, T b) {
    return Select((a > b) | (a != a), a, b);
  }
  static constexpr bool kSelects = true;
};
struct MinReducer : Additive {
  template <typename T>
  static constexpr T Identity() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::max();
  }
  template <typename T>
  static T Combine(T a, T b) {
    return Select((a < b) | (a != a), a, b);
  }
  static constexpr bool kSelects = true;
};

}  // namespace poprt::kernels
