#pragma once

#include <bit>

#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/packed/vector_type.hpp"

// Sums of the lanes of registers, neighbours first, so that one register and many give the same.
// Written once over the vector type V of vector_type.hpp.
namespace poprt::kernels::tile {

template <class V>
inline constexpr int kHalvings = std::countr_zero(unsigned{V::kLanes});

/// The sums of the lanes of each of kLanes registers in the lanes of one. `sums` are overwritten.
template <class V>
typename V::Register SumsOfLanes(typename V::Register (&sums)[V::kLanes]) {
  const auto pairs = [](auto x) POPRT_INLINED { return V::Add(x, V::template SwapLanes<1>(x)); };
  Unroll<kHalvings<V>>([&](auto step) POPRT_INLINED {
    Unroll<(V::kLanes >> (decltype(step)::value + 1))>([&](auto i) POPRT_INLINED {
      constexpr int kI = decltype(i)::value;
      sums[kI] = V::Even(pairs(sums[2 * kI]), pairs(sums[2 * kI + 1]));
    });
  });
  return sums[0];
}

/// The same of one register.
template <class V>
float SumOfLanes(typename V::Register sum) {
  Unroll<kHalvings<V>>([&](auto step) POPRT_INLINED {
    sum = V::Add(sum, V::template SwapLanes<(1 << decltype(step)::value)>(sum));
  });
  return V::FirstLane(sum);
}

}  // namespace poprt::kernels::tile
