#pragma once

#include "runtime/kernels/packed/vector_portable.hpp"

namespace poprt::kernels::tile {
namespace {  // NOLINT: on purpose, see packed/vector_portable.hpp

/// The vector type V of conv_micro_kernels_impl.hpp for any processor.
struct Portable : kernels::Portable {
  static constexpr bool kUnrolls = false;
  using Eight = Portable;

  static void AccumulateFrom(Register& acc, const Register& a, const float* b) {
    Accumulate(acc, a, Load(b));
  }
  static Register MaxOrNan(const Register& a, const Register& b) {
    return {(a.lane > b.lane) | (a.lane != a.lane) ? a.lane : b.lane};
  }
  static Register Join(const Register& a, const Register& b, std::int64_t count) {
    return Each([&](int i) { return i < count ? a.lane[i] : b.lane[i]; });
  }
};

}  // namespace
}  // namespace poprt::kernels::tile
