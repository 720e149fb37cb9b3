#pragma once

#include <immintrin.h>

#include <cstdint>
#include <type_traits>

#include "runtime/kernels/packed/vector_avx2.hpp"

// The vector type V of vector_type.hpp for processors with AVX-512 F, BW, VL and DQ, as
// vector_avx2.hpp is for those with AVX2.
namespace poprt::kernels {
namespace {  // NOLINT: on purpose, see vector_avx2.hpp

struct Avx512 {
  static constexpr int kLanes = 16;
  static constexpr int kPanels = 2;
  static constexpr int kRows = 8;
  using Register = __m512;
  using Eight = Avx2;

  /// The number at an address in all lanes. The only instruction that needs it reads it from there.
  struct Repeated {
    const float* number;
  };

  static Register Zero() { return _mm512_setzero_ps(); }
  static Register Set(float x) { return _mm512_set1_ps(x); }
  template <int kUses>
  static auto Repeat(const float* p) {
    if constexpr (kUses == 1) {
      return Repeated{p};
    } else {
      return Set(*p);
    }
  }
  static Register Load(const float* p) { return _mm512_loadu_ps(p); }
  static Register Load(const std::uint16_t* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  template <class Use>
  static void EachScaled(const std::int32_t* line, Use use) {
    const __m512i words = _mm512_loadu_si512(line);
    use(std::integral_constant<int, 0>(), _mm512_cvtepi32_ps(_mm512_slli_epi32(words, 16)));
    const __m512i upper = _mm512_and_si512(words, _mm512_set1_epi32(~0xFFFF));
    use(std::integral_constant<int, 1>(), _mm512_cvtepi32_ps(upper));
  }
  static void Store(Register x, float* p) { _mm512_storeu_ps(p, x); }
  static void Store(Register x, std::uint16_t* p) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  static __mmask16 First(std::int64_t count) {
    return static_cast<__mmask16>(0xFFFFU >> (kLanes - count));
  }
  static Register LoadFirst(const float* p, std::int64_t count) {
    return _mm512_maskz_loadu_ps(First(count), p);
  }
  static void StoreFirst(Register x, float* p, std::int64_t count) {
    _mm512_mask_storeu_ps(p, First(count), x);
  }
  static Register KeepFirst(Register x, std::int64_t count) {
    const std::int64_t kept = count < 0 ? 0 : count > kLanes ? kLanes : count;
    return _mm512_maskz_mov_ps(First(kept), x);
  }
  static Register Even(Register a, Register b) {
    const __m512i lanes = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14,  //
                                            16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_ps(a, lanes, b);
  }
  static float FirstLane(Register x) { return _mm512_cvtss_f32(x); }
  template <int kDistance>
  static Register SwapLanes(Register x) {
    if constexpr (kDistance == 8) return _mm512_shuffle_f32x4(x, x, _MM_SHUFFLE(1, 0, 3, 2));
    if constexpr (kDistance == 4) return _mm512_shuffle_f32x4(x, x, _MM_SHUFFLE(2, 3, 0, 1));
    if constexpr (kDistance == 2) return _mm512_permute_ps(x, _MM_SHUFFLE(1, 0, 3, 2));
    if constexpr (kDistance == 1) return _mm512_permute_ps(x, _MM_SHUFFLE(2, 3, 0, 1));
  }
  static Register Add(Register a, Register b) { return _mm512_add_ps(a, b); }
  static Register Sub(Register a, Register b) { return _mm512_sub_ps(a, b); }
  static Register Mul(Register a, Register b) { return _mm512_mul_ps(a, b); }
  static Register Div(Register a, Register b) { return _mm512_div_ps(a, b); }
  static Register MulAdd(Register a, Register b, Register c) { return _mm512_fmadd_ps(a, b, c); }
  // As assembly for the same reason as in vector_avx2.hpp.
  static void Accumulate(Register& acc, Register a, Register b) {
    asm("vfmadd231ps %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
  }
  static void Accumulate(Register& acc, Repeated a, Register b) {
    asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(acc) : "v"(b), "m"(*a.number));
  }
  static Register Max(Register a, Register b) { return _mm512_max_ps(a, b); }
  static Register Min(Register a, Register b) { return _mm512_min_ps(a, b); }
  static Register Abs(Register x) { return _mm512_andnot_ps(_mm512_set1_ps(-0.0F), x); }
  static Register Sqrt(Register x) { return _mm512_sqrt_ps(x); }
  static Register Round(Register x) {
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  /// As float16 has it.
  static Register RoundHalf(Register x) {
    return _mm512_cvtph_ps(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  static Register SelectLess(Register a, Register b, Register x, Register y) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), y, x);
  }
  /// x * 2^n for whole n, rounded once.
  static Register Scale(Register x, Register n) { return _mm512_scalef_ps(x, n); }
  /// 2^n for the n in the low bits of `shifted` = 1.5 * 2^23 + n.
  static Register PowerOfTwo(Register shifted) {
    const __m512i exponent = _mm512_slli_epi32(_mm512_castps_si512(shifted), 23);
    return _mm512_castsi512_ps(_mm512_add_epi32(exponent, _mm512_set1_epi32(0x3F800000)));
  }
};

}  // namespace
}  // namespace poprt::kernels
