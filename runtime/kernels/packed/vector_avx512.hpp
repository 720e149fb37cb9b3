#pragma once

#include <immintrin.h>

#include <cstdint>

#include "runtime/kernels/packed/vector_avx2.hpp"
#include "runtime/kernels/packed/vector_highway.hpp"

namespace poprt::kernels {
namespace {  // NOLINT: on purpose, see vector_highway.hpp

/// The vector type V of vector_type.hpp for processors with AVX-512 F, BW, VL and DQ.
struct Avx512 : HighwayVector<16> {
  static constexpr int kPanels = 2;
  static constexpr int kRows = 8;
  using Eight = Avx2;

  /// The number at an address in all lanes. The only instruction that needs it reads it from there.
  struct Repeated {
    const float* number;
  };

  template <int kUses>
  static auto Repeat(const float* p) {
    if constexpr (kUses == 1) {
      return Repeated{p};
    } else {
      return Set(*p);
    }
  }
  static void StoreFirst(Register x, float* p, std::int64_t count) {
    hn::BlendedStore(Vector{x}, First(count), Floats(), p);
  }
  using HighwayVector::Accumulate;
  static void Accumulate(Register& acc, Repeated a, Register b) {
    asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(acc) : "v"(b), "m"(*a.number));
  }
  /// x * 2^n for whole n, rounded once.
  static Register Scale(Register x, Register n) { return _mm512_scalef_ps(x, n); }
};

}  // namespace
}  // namespace poprt::kernels
