#pragma once

#include <type_traits>
#include <utility>

// On lambdas: a captured array stays in memory unless the lambda is gone before the first
// optimisations.
#define POPRT_INLINED __attribute__((always_inline))

namespace poprt::kernels::tile {

/// Calls f with std::integral_constant 0, 1, ... g++ keeps an array in registers only when it sees
/// constant indices before it unrolls loops.
template <class F, int... kIndices>
[[gnu::always_inline]] inline void UnrollEach([[maybe_unused]] F f,
                                              std::integer_sequence<int, kIndices...>) {
  (f(std::integral_constant<int, kIndices>{}), ...);
}
template <int kCount, class F>
[[gnu::always_inline]] inline void Unroll(F f) {
  UnrollEach(f, std::make_integer_sequence<int, kCount>{});
}

}  // namespace poprt::kernels::tile
