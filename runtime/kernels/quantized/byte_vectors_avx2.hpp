#pragma once

#include <immintrin.h>

#include "runtime/kernels/quantized/byte_micro_kernels.hpp"

namespace poprt::kernels {
namespace {  // NOLINT: on purpose, each file that includes this is compiled for its instructions

/// The same four bytes in all lanes.
inline __m256i RepeatQuad(const std::uint8_t* four) {
  int quad;
  __builtin_memcpy(&quad, four, sizeof(quad));
  return _mm256_set1_epi32(quad);
}

/// Quads of 8 channels from `lane` on, whose bytes are of four pixels side by side.
inline __m256i QuadsOfPixels(const std::uint8_t* pixels, std::int64_t lane) {
  const auto load = [&](int pixel) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(pixels + 16 * pixel + lane));
  };
  const __m128i first = _mm_unpacklo_epi8(load(0), load(1));
  const __m128i second = _mm_unpacklo_epi8(load(2), load(3));
  return _mm256_set_m128i(_mm_unpackhi_epi16(first, second), _mm_unpacklo_epi16(first, second));
}

/// 4 sums of a block as results.
inline __m128i RoundFour(__m128i sums, const ByteEpilogue& epilogue, int first) {
  const __m256d factors = _mm256_cvtps_pd(_mm_loadu_ps(epilogue.factors + first));
  const __m256d units = _mm256_mul_pd(_mm256_cvtepi32_pd(sums), factors);
  const __m256d products = _mm256_mul_pd(units, _mm256_set1_pd(1.0 / kByteUnit));
  const __m256d values = _mm256_add_pd(products, _mm256_set1_pd(epilogue.point));
  // Of a NaN the second operand is the result.
  const __m256d floor = _mm256_max_pd(values, _mm256_setzero_pd());
  return _mm256_cvtpd_epi32(_mm256_min_pd(floor, _mm256_set1_pd(255)));
}

/// 8 of them, as 16 bits each.
inline __m128i RoundEight(__m256i sums, const ByteEpilogue& epilogue, int first) {
  const __m128i low = RoundFour(_mm256_castsi256_si128(sums), epilogue, first);
  const __m128i high = RoundFour(_mm256_extracti128_si256(sums, 1), epilogue, first + 4);
  return _mm_packus_epi32(low, high);
}

[[gnu::noinline]] void StoreExactBytes(__m256i first, __m256i second, const ByteEpilogue& epilogue,
                                       std::uint8_t* y) {
  const __m128i bytes =
      _mm_packus_epi16(RoundEight(first, epilogue, 0), RoundEight(second, epilogue, 8));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(y), bytes);
}

/// 8 results before they are clipped, and which of them doubles decide.
struct Integers {
  __m256i rounded;
  __m256i near_tie;
};
inline Integers RoundFloats(__m256i sums, const float* factors, std::int32_t point) {
  const std::int32_t moved_point = point * kByteUnit + kByteUnit / 2 + 1;
  const __m256 units = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums), _mm256_loadu_ps(factors),
                                       _mm256_set1_ps(static_cast<float>(moved_point)));
  // Of a NaN the second operand is the result, and of that the lowest integer.
  const __m256i moved = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_set1_ps(kClipped), units));
  const __m256i tested = _mm256_set1_epi32(kByteUnit - 1 - kNearTie);
  return {_mm256_srai_epi32(moved, kByteUnitBits),
          _mm256_cmpeq_epi32(_mm256_and_si256(moved, tested), _mm256_setzero_si256())};
}

/// A block of bytes from its sums.
inline void StoreSixteenBytes(__m256i first, __m256i second, const ByteEpilogue& epilogue,
                              std::uint8_t* y) {
  const Integers low = RoundFloats(first, epilogue.factors, epilogue.point);
  const Integers high = RoundFloats(second, epilogue.factors + 8, epilogue.point);
  if (_mm256_movemask_epi8(_mm256_or_si256(low.near_tie, high.near_tie)) != 0) [[unlikely]] {
    return StoreExactBytes(first, second, epilogue, y);
  }
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packus_epi32(low.rounded, high.rounded),
                                                 _MM_SHUFFLE(3, 1, 2, 0));
  const __m128i bytes =
      _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(y), bytes);
}

/// ByteMicroKernels::add.
inline std::int64_t AddBytes(const LinearSum& sum, const std::uint8_t* left,
                             const std::uint8_t* right, std::int64_t count, std::uint8_t* to) {
  constexpr std::int64_t kTogether = 32;
  const __m256 of_left = _mm256_set1_ps(sum.of_left);
  const __m256 of_right = _mm256_set1_ps(sum.of_right);
  const __m256 base = _mm256_set1_ps(sum.base + static_cast<float>(LinearSum::kMoved));
  const __m256i tested = _mm256_set1_epi32(LinearSum::kTested);
  const auto load = [](const std::uint8_t* from) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
  };
  std::int64_t done = 0;
  for (; done + kTogether <= count; done += kTogether) {
    __m256i results[4];
    __m256i least = tested;
    for (int i = 0; i < 4; ++i) {
      const std::int64_t at = done + 8 * i;
      const __m256 rest = _mm256_fmadd_ps(load(right + at), of_right, base);
      const __m256i units = _mm256_cvtps_epi32(_mm256_fmadd_ps(load(left + at), of_left, rest));
      least = _mm256_min_epu32(least, _mm256_and_si256(units, tested));
      results[i] = _mm256_srai_epi32(units, kByteUnitBits);
    }
    const __m256i near_tie = _mm256_cmpeq_epi32(least, _mm256_setzero_si256());
    if (_mm256_movemask_epi8(near_tie) != 0) break;
    const __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(results[0], results[1]),
                                              _mm256_packs_epi32(results[2], results[3]));
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + done),
                        _mm256_permutevar8x32_epi32(bytes, order));
  }
  return done;
}

}  // namespace
}  // namespace poprt::kernels
