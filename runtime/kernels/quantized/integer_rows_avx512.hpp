#pragma once

#include <immintrin.h>

#include "runtime/kernels/quantized/integer_rows_impl.hpp"

namespace poprt::kernels {
namespace {

/// Pairs of products, whose sums are added.
struct Avx512 {
  static constexpr int kLanes = 16;
  static constexpr int kRows = 6;
  static constexpr int kPanels = 2;
  static constexpr int kPanelsOfFewRows = 4;
  static constexpr int kBytesAhead = 0;
  static constexpr bool kIsWide = false;
  static constexpr bool kHasDigits = false;
  using Words = __m512i;
  using Factors = __m512i;
  using Sums = __m512i;

  static Words Load(const std::byte* from) { return _mm512_loadu_si512(from); }
  static Factors LoadFactors(const std::uint32_t* from) {
    return _mm512_set1_epi32(static_cast<int>(*from));
  }
  static Sums SetSums(std::int32_t sum) { return _mm512_set1_epi32(sum); }
  template <int kBits, int i>
  static Words Field(Words words) {
    if constexpr (kBits * (i + 1) == 16) return _mm512_srli_epi16(words, kBits * i);
    return _mm512_and_si512(_mm512_srli_epi16(words, kBits * i),
                            _mm512_set1_epi16((1 << kBits) - 1));
  }
  static Sums Add(Sums sums, Words field, Factors factors) {
    // g++ keeps the intrinsics' sums in memory.
    __m512i products;
    asm("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0"
        : "+v"(sums), "=&v"(products)
        : "v"(field), "v"(factors));
    return sums;
  }
  static void AddScaled(Sums sums, float scale, const float* scales, float* to) {
    const __m512 scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(sums), _mm512_set1_ps(scale));
    _mm512_storeu_ps(to, _mm512_fmadd_ps(scaled, _mm512_loadu_ps(scales), _mm512_loadu_ps(to)));
  }
};

}  // namespace
}  // namespace poprt::kernels
