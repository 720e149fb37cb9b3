#pragma once

#include <type_traits>

#include "runtime/kernels/packed/vector_type.hpp"

// Tiles of sums that stay in registers: rows, or pixels, by panels of 16 columns, or channels.
// Their sizes are constants of the code.
namespace poprt::kernels::tile {

/// Registers of a row of the tiles that are computed at once.
template <class V>
inline constexpr int kRowVectors = V::kPanels* kVectors<V>;

/// A chain of dependent multiply-adds takes four cycles a step while two may start in every cycle,
/// so that tiles of few rows, the rows being kWidth registers, sum over several chains.
template <int kRows, int kWidth>
inline constexpr int kChains = kRows* kWidth <= 2   ? 4
                               : kRows* kWidth <= 6 ? 2
                                                    : 1;

/// The same of rows that are multiplied by more panels at once where two leave registers for it.
template <int kRows, int kWidth>
inline constexpr int kChainsOfRows = kRows == 2 ? 1 : kChains<kRows, kWidth>;

/// Calls f(std::integral_constant<int, rows>) for 1 to kMost rows.
template <int kMost, class F>
[[gnu::always_inline]] inline void WithRows(std::int64_t rows, F f) {
  if constexpr (kMost > 1) {
    if (rows < kMost) return WithRows<kMost - 1>(rows, f);
  }
  f(std::integral_constant<int, kMost>{});
}

/// Calls f(std::integral_constant<int, count>) for the numbers of panels that V has registers for.
template <class V, class F>
[[gnu::always_inline]] inline void WithPanels(int count, F f) {
  if constexpr (V::kPanels > 1) {
    if (count == 2) return f(std::integral_constant<int, 2>{});
  }
  f(std::integral_constant<int, 1>{});
}

}  // namespace poprt::kernels::tile
