#pragma once

#include <cstdint>

#include "runtime/kernels/packed/tile_sizes.hpp"

// Inner loops are written once over a vector type V of 8 or 16 floats (*_impl.hpp). Every file that
// includes these gives a V of its own in an unnamed namespace, so that each has its own copy of the
// code.
//
// V has kLanes, Register (the register type), kPanels and kRows (of how many panels of 16 columns,
// 1 or 2, and of how many rows, 6 to 8, the sums fit the registers), Eight (a V of eight lanes for
// what needs no more; it has Transpose(Register[8]) too) and static functions: Zero, Set, Load
// (float or float16 bits), EachScaled(line, use) (calls use with std::integral_constant 0 and 1 and
// the row of a line of integers, times 2^16, see scaled_panels.hpp), Store (float or float16 bits),
// LoadFirst(p, n) and StoreFirst(v, p, n) (n < kLanes floats, zeros behind them), KeepFirst(v, n),
// Even(a, b) (lanes 0, 2, ... of both), SwapLanes<n>(x), whose lane i is lane i ^ n of x, n a power
// of two below kLanes, FirstLane(x), Add, Sub, Mul, Div, MulAdd(a, b, c) = a * b + c,
// Accumulate(acc, a, b), where a may come from Repeat<n>(p), the number at p in all lanes for n
// uses, Max(a, b) = a > b ? a : b, Min(a, b) = a < b ? a : b, Abs, Sqrt, SelectLess(a, b, x, y) = a
// < b ? x : y, PowerOfTwo (see there) and, where there is an instruction for it, Scale(x, n) = x *
// 2^n.
namespace poprt::kernels::tile {

/// Columns of a panel of weights and channels of a block.
inline constexpr int kColumns = kPanel;

/// Registers of a row of a panel.
template <class V>
inline constexpr int kVectors = kColumns / V::kLanes;

/// The first `count` of the elements of a register, zero for the others, touching nothing else.
template <class V>
[[gnu::always_inline]] inline typename V::Register LoadFirst(const float* source,
                                                             std::int64_t count) {
  return count >= V::kLanes ? V::Load(source) : V::LoadFirst(source, count);
}
template <class V>
typename V::Register LoadFirst(const std::uint16_t* source, std::int64_t count) {
  if (count >= V::kLanes) return V::Load(source);
  std::uint16_t lanes[V::kLanes] = {};
  for (std::int64_t i = 0; i < count; ++i) lanes[i] = source[i];
  return V::Load(lanes);
}

/// Stores the first `count` of the elements of a register, touching nothing else.
template <class V>
[[gnu::always_inline]] inline void StoreFirst(typename V::Register value, float* target,
                                              std::int64_t count) {
  if (count >= V::kLanes) return V::Store(value, target);
  V::StoreFirst(value, target, count);
}
template <class V>
void StoreFirst(typename V::Register value, std::uint16_t* target, std::int64_t count) {
  if (count >= V::kLanes) return V::Store(value, target);
  std::uint16_t lanes[V::kLanes];
  V::Store(value, lanes);
  for (std::int64_t i = 0; i < count; ++i) target[i] = lanes[i];
}

}  // namespace poprt::kernels::tile
