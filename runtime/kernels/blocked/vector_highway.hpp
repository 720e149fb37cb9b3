#pragma once

#include <cstdint>

#include "runtime/kernels/packed/vector_highway.hpp"

namespace poprt::kernels::tile {
namespace {  // NOLINT: on purpose, see packed/vector_highway.hpp

/// The vector type V of conv_micro_kernels_impl.hpp, of one of packed/.
template <class V>
struct Blocked : V {
  using typename V::Register;
  using typename V::Vector;
  static constexpr bool kUnrolls = true;

  static void AccumulateFrom(Register& acc, Register a, const float* b) {
    using Memory [[gnu::may_alias, gnu::aligned(4)]] = Register;
    asm("vfmadd231ps %2, %1, %0" : "+v"(acc) : "v"(a), "m"(*reinterpret_cast<const Memory*>(b)));
  }
  static Register MaxOrNan(Register a, Register b) {
    // The instruction gives its second operand when one is NaN.
    return hn::IfThenElse(hn::IsNaN(Vector{a}), Vector{a}, hn::Max(Vector{a}, Vector{b})).raw;
  }
  static Register Join(Register a, Register b, std::int64_t count) {
    return hn::IfThenElse(V::First(count), Vector{a}, Vector{b}).raw;
  }
};

}  // namespace
}  // namespace poprt::kernels::tile
