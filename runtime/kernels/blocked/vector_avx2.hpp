#pragma once

#include <immintrin.h>

#include "runtime/kernels/packed/vector_avx2.hpp"

namespace poprt::kernels::tile {
namespace {  // NOLINT: on purpose, see packed/vector_avx2.hpp

/// The vector type V of conv_micro_kernels_impl.hpp for processors with AVX2, FMA and F16C.
struct Avx2 : kernels::Avx2 {
  static constexpr bool kUnrolls = true;
  using Eight = Avx2;

  static void AccumulateFrom(Register& acc, Register a, const float* b) {
    asm("vfmadd231ps %2, %1, %0" : "+x"(acc) : "x"(a), "m"(*reinterpret_cast<const __m256_u*>(b)));
  }
  static Register MaxOrNan(Register a, Register b) {
    // The instruction gives its second operand when one is NaN.
    return _mm256_blendv_ps(_mm256_max_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
  }
  static Register Join(Register a, Register b, std::int64_t count) {
    const auto* mask = reinterpret_cast<const __m256i*>(kFirstLanes + 8 - count);
    return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(_mm256_loadu_si256(mask)));
  }
};

}  // namespace
}  // namespace poprt::kernels::tile
