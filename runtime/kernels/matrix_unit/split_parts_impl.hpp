#pragma once

#include <immintrin.h>

#include <cstdint>

#include "runtime/kernels/matrix_unit/matrix_unit.hpp"

// The parts of float32 numbers, see matrix_unit.hpp, as the tiles of the unit have them.
// Included only by files that are compiled for AVX-512, hence the unnamed namespace.
namespace poprt::kernels {
namespace {

constexpr int kPartMask = static_cast<int>(0xffff0000);  ///< the bits of a float that bfloat16 has

/// Pairs of bfloat16 numbers, the upper halves of the lanes of `low` and of `high`.
[[gnu::always_inline]] inline __m512i Pairs(__m512i low, __m512i high) {
  const __m512i mask = _mm512_set1_epi32(kPartMask);
  constexpr int kSelect = 0xb8;  // mask ? high : low, bit by bit, of (low, mask, high)
  return _mm512_ternarylogic_epi32(_mm512_srli_epi32(low, 16), mask, high, kSelect);
}

/// Numbers whose upper halves are x, rounded to nearest; but some NaN become others.
[[gnu::always_inline]] inline __m512i Rounded(__m512 x) {
  return _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000));
}

/// What is left of x without the upper half of what it was rounded to, times 1 + 2^-8.5, so that
/// its upper half is rounded: it is never more than 0.71 of a last bit off, and nothing where that
/// half can hold it. A NaN stays one.
[[gnu::always_inline]] inline __m512i RoundedRest(__m512 x, __m512i rounded) {
  const __m512i upper = _mm512_and_si512(rounded, _mm512_set1_epi32(kPartMask));
  const __m512 rest = _mm512_sub_ps(x, _mm512_castsi512_ps(upper));
  return _mm512_castps_si512(_mm512_mul_ps(rest, _mm512_set1_ps(1.00276F)));
}

/// Both parts of the numbers in `low` and `high`, in pairs.
struct PairParts {
  __m512i parts[kSplitParts];

  [[gnu::always_inline]] PairParts(__m512 low, __m512 high) {
    const __m512i low_rounded = Rounded(low);
    const __m512i high_rounded = Rounded(high);
    parts[0] = Pairs(low_rounded, high_rounded);
    parts[1] = Pairs(RoundedRest(low, low_rounded), RoundedRest(high, high_rounded));
  }
};

/// Row `row` of the tiles of both parts.
[[gnu::always_inline]] inline void StoreParts(__m512 low, __m512 high, std::int64_t row,
                                              std::uint16_t* tiles) {
  std::uint16_t* const to = tiles + row * kSplitStep;
  const PairParts pairs(low, high);
  _mm512_store_si512(to, pairs.parts[0]);
  _mm512_store_si512(to + kSplitTile, pairs.parts[1]);
}

}  // namespace
}  // namespace poprt::kernels
