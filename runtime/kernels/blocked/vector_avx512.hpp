#pragma once

#include <immintrin.h>

#include "runtime/kernels/blocked/vector_avx2.hpp"
#include "runtime/kernels/packed/vector_avx512.hpp"

namespace poprt::kernels::tile {
namespace {  // NOLINT: on purpose, see packed/vector_avx2.hpp

/// The vector type V of conv_micro_kernels_impl.hpp for processors with AVX-512 F, BW, VL and DQ.
struct Avx512 : kernels::Avx512 {
  static constexpr bool kUnrolls = true;

  /// With as many registers.
  struct Eight : Avx2 {
    static constexpr int kRows = kernels::Avx512::kRows;

    static void Accumulate(Register& acc, Register a, Register b) {
      asm("vfmadd231ps %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
    }
  };
  static Eight::Register Low(Register x) { return _mm512_castps512_ps256(x); }

  static void AccumulateFrom(Register& acc, Register a, const float* b) {
    asm("vfmadd231ps %2, %1, %0" : "+v"(acc) : "v"(a), "m"(*reinterpret_cast<const __m512_u*>(b)));
  }
  static Register MaxOrNan(Register a, Register b) {
    // The instruction gives its second operand when one is NaN.
    return _mm512_mask_mov_ps(_mm512_max_ps(a, b), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a);
  }
  static Register Join(Register a, Register b, std::int64_t count) {
    return _mm512_mask_mov_ps(b, First(count), a);
  }
};

}  // namespace
}  // namespace poprt::kernels::tile
