#pragma once

#include <cmath>

#include "runtime/tensor/tensor.hpp"

namespace poprt::kernels::testing {

/// Rounds float32 numbers, none of which is denormal, to what short floats keep of them.
inline Tensor RoundedToShort(Tensor numbers) {
  constexpr int kSignificant = 16;
  for (float& number : numbers.as_mutable<float>()) {
    int exponent = 0;
    const float fraction = std::frexp(number, &exponent);
    number =
        std::ldexp(std::nearbyint(std::ldexp(fraction, kSignificant)), exponent - kSignificant);
  }
  return numbers;
}

}  // namespace poprt::kernels::testing
