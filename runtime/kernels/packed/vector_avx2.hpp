#pragma once

#include <immintrin.h>

#include <cstdint>
#include <type_traits>

// The vector type V of vector_type.hpp for processors with AVX2, FMA and F16C. In an unnamed
// namespace, so that every file that includes this has its own copy of the code.
namespace poprt::kernels {
namespace {  // NOLINT: on purpose, see above

alignas(64) const std::int32_t kFirstLanes[24] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0,
                                                  0,  0,  0,  0,  0,  0,  0,  0,  0, 0, 0, 0};

struct Avx2 {
  static constexpr int kLanes = 8;
  static constexpr int kPanels = 1;
  static constexpr int kRows = 6;
  using Register = __m256;
  using Eight = Avx2;

  static Register Zero() { return _mm256_setzero_ps(); }
  static Register Set(float x) { return _mm256_set1_ps(x); }
  template <int kUses>
  static Register Repeat(const float* p) {
    return Set(*p);
  }
  static Register Load(const float* p) { return _mm256_loadu_ps(p); }
  static Register Load(const std::uint16_t* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  template <class Use>
  static void EachScaled(const std::int32_t* line, Use use) {
    const __m256i words = LoadWords(line);
    use(std::integral_constant<int, 0>(), _mm256_cvtepi32_ps(_mm256_slli_epi32(words, 16)));
    const __m256i upper = _mm256_and_si256(words, _mm256_set1_epi32(~0xFFFF));
    use(std::integral_constant<int, 1>(), _mm256_cvtepi32_ps(upper));
  }
  static void Store(Register x, float* p) { _mm256_storeu_ps(p, x); }
  static void Store(Register x, std::uint16_t* p) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                     _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  static Register LoadFirst(const float* p, std::int64_t count) {
    const auto* mask = reinterpret_cast<const __m256i*>(kFirstLanes + 8 - count);
    return _mm256_maskload_ps(p, _mm256_loadu_si256(mask));
  }
  // In parts, because stores with a mask are slow on some processors.
  static void StoreFirst(Register x, float* p, std::int64_t count) {
    __m128 part = _mm256_castps256_ps128(x);
    if ((count & 4) != 0) {
      _mm_storeu_ps(p, part);
      part = _mm256_extractf128_ps(x, 1);
      p += 4;
    }
    if ((count & 2) != 0) {
      _mm_storel_pi(reinterpret_cast<__m64*>(p), part);
      part = _mm_movehl_ps(part, part);
      p += 2;
    }
    if ((count & 1) != 0) _mm_store_ss(p, part);
  }
  static Register KeepFirst(Register x, std::int64_t count) {
    const std::int64_t kept = count < 0 ? 0 : count > 8 ? 8 : count;
    const auto* mask = reinterpret_cast<const __m256i*>(kFirstLanes + 8 - kept);
    return _mm256_and_ps(x, _mm256_castsi256_ps(_mm256_loadu_si256(mask)));
  }
  static Register Even(Register a, Register b) {
    const __m256 pairs = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0));
    return _mm256_castpd_ps(
        _mm256_permute4x64_pd(_mm256_castps_pd(pairs), _MM_SHUFFLE(3, 1, 2, 0)));
  }
  static void Transpose(Register (&x)[8]) {
    __m256 pairs[8];
    for (int i = 0; i < 8; i += 2) {
      pairs[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
      pairs[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
    }
    __m256 quads[8];
    for (int i = 0; i < 8; i += 4) {
      quads[i] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], _MM_SHUFFLE(1, 0, 1, 0));
      quads[i + 1] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], _MM_SHUFFLE(3, 2, 3, 2));
      quads[i + 2] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], _MM_SHUFFLE(1, 0, 1, 0));
      quads[i + 3] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], _MM_SHUFFLE(3, 2, 3, 2));
    }
    for (int i = 0; i < 4; ++i) {
      x[i] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x20);
      x[i + 4] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x31);
    }
  }
  static float FirstLane(Register x) { return _mm256_cvtss_f32(x); }
  template <int kDistance>
  static Register SwapLanes(Register x) {
    if constexpr (kDistance == 4) return _mm256_permute2f128_ps(x, x, 1);
    if constexpr (kDistance == 2) return _mm256_permute_ps(x, _MM_SHUFFLE(1, 0, 3, 2));
    if constexpr (kDistance == 1) return _mm256_permute_ps(x, _MM_SHUFFLE(2, 3, 0, 1));
  }
  static Register Add(Register a, Register b) { return _mm256_add_ps(a, b); }
  static Register Sub(Register a, Register b) { return _mm256_sub_ps(a, b); }
  static Register Mul(Register a, Register b) { return _mm256_mul_ps(a, b); }
  static Register Div(Register a, Register b) { return _mm256_div_ps(a, b); }
  static Register MulAdd(Register a, Register b, Register c) { return _mm256_fmadd_ps(a, b, c); }
  // As assembly because g++ 12 otherwise chooses other forms of the instruction, which need moves.
  static void Accumulate(Register& acc, Register a, Register b) {
    asm("vfmadd231ps %2, %1, %0" : "+x"(acc) : "x"(a), "x"(b));
  }
  // As assembly because g++ otherwise loads the words once more for each use.
  static __m256i LoadWords(const void* p) {
    __m256i words = _mm256_loadu_si256(static_cast<const __m256i*>(p));
    asm("" : "+x"(words));
    return words;
  }
  static Register Max(Register a, Register b) { return _mm256_max_ps(a, b); }
  static Register Min(Register a, Register b) { return _mm256_min_ps(a, b); }
  static Register Abs(Register x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), x); }
  static Register Sqrt(Register x) { return _mm256_sqrt_ps(x); }
  static Register Round(Register x) {
    return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  /// As float16 has it.
  static Register RoundHalf(Register x) {
    return _mm256_cvtph_ps(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  static Register SelectLess(Register a, Register b, Register x, Register y) {
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
  }
  /// 2^n for the n in the low bits of `shifted` = 1.5 * 2^23 + n.
  static Register PowerOfTwo(Register shifted) {
    const __m256i exponent = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(exponent, _mm256_set1_epi32(0x3F800000)));
  }
};

}  // namespace
}  // namespace poprt::kernels
