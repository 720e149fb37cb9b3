#pragma once

#include <immintrin.h>

#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels.hpp"

namespace poprt::kernels {
namespace {  // NOLINT: on purpose, each file that includes this is compiled for its instructions

/// The same four bytes in all lanes.
inline __m512i RepeatQuad(const std::uint8_t* four) {
  int quad;
  __builtin_memcpy(&quad, four, sizeof(quad));
  return _mm512_set1_epi32(quad);
}

/// Rows of a square of 4 x 4 dwords in the place of its columns.
inline __m512i SquareOfDwords() {
  return _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
}

/// Quads of 16 channels, whose bytes are of four pixels side by side.
inline __m512i QuadsOfPixels(const std::uint8_t* pixels) {
  const __m512i bytes =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(SquareOfDwords(), _mm512_loadu_si512(pixels)),
                             bytes);
}

/// 8 sums of a block as results.
inline __m256i RoundEight(__m256i sums, const ByteEpilogue& epilogue, int first) {
  const __m512d factors = _mm512_cvtps_pd(_mm256_loadu_ps(epilogue.factors + first));
  const __m512d units = _mm512_mul_pd(_mm512_cvtepi32_pd(sums), factors);
  const __m512d products = _mm512_mul_pd(units, _mm512_set1_pd(1.0 / kByteUnit));
  const __m512d values = _mm512_add_pd(products, _mm512_set1_pd(epilogue.point));
  // Of a NaN the second operand is the result.
  const __m512d floor = _mm512_max_pd(values, _mm512_setzero_pd());
  return _mm512_cvtpd_epi32(_mm512_min_pd(floor, _mm512_set1_pd(255)));
}

[[gnu::noinline]] void StoreExactBytes(__m512i sums, const ByteEpilogue& epilogue,
                                       std::uint8_t* y) {
  const __m256i low = RoundEight(_mm512_castsi512_si256(sums), epilogue, 0);
  const __m256i high = RoundEight(_mm512_extracti64x4_epi64(sums, 1), epilogue, 8);
  const __m512i all = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(y), _mm512_cvtepi32_epi8(all));
}

/// Sums as results in units and a half of one and one more.
inline __m512i InUnits(__m512i sums, const ByteEpilogue& epilogue) {
  const std::int32_t point = epilogue.point * kByteUnit + kByteUnit / 2 + 1;
  const __m512 units = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums), _mm512_loadu_ps(epilogue.factors),
                                       _mm512_set1_ps(static_cast<float>(point)));
  // Of a NaN the second operand is the result, and of that the lowest integer.
  return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_set1_ps(kClipped), units));
}

/// A block of bytes from its sums.
inline void StoreSixteenBytes(__m512i sums, const ByteEpilogue& epilogue, std::uint8_t* y) {
  const __m512i moved = InUnits(sums, epilogue);
  const __m512i tested = _mm512_set1_epi32(kByteUnit - 1 - kNearTie);
  if (_mm512_testn_epi32_mask(moved, tested) != 0) [[unlikely]] {
    return StoreExactBytes(sums, epilogue, y);
  }
  const __m512i rounded = _mm512_srai_epi32(moved, kByteUnitBits);
  const __m512i floor = _mm512_max_epi32(rounded, _mm512_setzero_si512());
  _mm_storeu_si128(reinterpret_cast<__m128i*>(y), _mm512_cvtusepi32_epi8(floor));
}

/// Whether a lane is zero.
inline bool HasZero(__m512i a, __m512i b, __m512i c, __m512i d) {
  const __m512i least = _mm512_min_epu32(_mm512_min_epu32(a, b), _mm512_min_epu32(c, d));
  return _mm512_testn_epi32_mask(least, least) != 0;
}

/// Stores 64 results, clipped, of units moved by a half of one, unless one of them is near a tie:
/// none of the bits that are `tested` is set.
[[gnu::always_inline]] inline bool StoreUnits(const __m512i (&units)[4], __m512i tested,
                                              std::uint8_t* to) {
  const auto distance = [&](int i) POPRT_INLINED { return _mm512_and_si512(units[i], tested); };
  if (HasZero(distance(0), distance(1), distance(2), distance(3))) [[unlikely]]
    return false;
  const auto result = [&](int i)
                          POPRT_INLINED { return _mm512_srai_epi32(units[i], kByteUnitBits); };
  const __m512i bytes = _mm512_packus_epi16(_mm512_packs_epi32(result(0), result(1)),
                                            _mm512_packs_epi32(result(2), result(3)));
  _mm512_storeu_si512(to, _mm512_permutexvar_epi32(SquareOfDwords(), bytes));
  return true;
}

/// Blocks of bytes of four pixels side by side, which are packed at once. The sums one by one, so
/// that they stay in registers.
[[gnu::always_inline]] inline void StoreFourPixels(__m512i first, __m512i second, __m512i third,
                                                   __m512i fourth, const ByteEpilogue& epilogue,
                                                   std::uint8_t* y) {
  const __m512i tested = _mm512_set1_epi32(kByteUnit - 1 - kNearTie);
  const __m512i units[] = {InUnits(first, epilogue), InUnits(second, epilogue),
                           InUnits(third, epilogue), InUnits(fourth, epilogue)};
  if (StoreUnits(units, tested, y)) return;
  StoreSixteenBytes(first, epilogue, y);
  StoreSixteenBytes(second, epilogue, y + kBlock);
  StoreSixteenBytes(third, epilogue, y + 2 * kBlock);
  StoreSixteenBytes(fourth, epilogue, y + 3 * kBlock);
}

/// ByteMicroKernels::add.
inline std::int64_t AddBytes(const LinearSum& sum, const std::uint8_t* left,
                             const std::uint8_t* right, std::int64_t count, std::uint8_t* to) {
  constexpr std::int64_t kTogether = 64;
  const __m512 of_left = _mm512_set1_ps(sum.of_left);
  const __m512 of_right = _mm512_set1_ps(sum.of_right);
  const __m512 base = _mm512_set1_ps(sum.base + static_cast<float>(LinearSum::kMoved));
  const __m512i tested = _mm512_set1_epi32(LinearSum::kTested);
  const auto load = [](const std::uint8_t* from) POPRT_INLINED {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));
  };
  std::int64_t done = 0;
  for (; done + kTogether <= count; done += kTogether) {
    const auto add = [&](std::int64_t at) POPRT_INLINED {
      const __m512 rest = _mm512_fmadd_ps(load(right + at), of_right, base);
      return _mm512_cvtps_epi32(_mm512_fmadd_ps(load(left + at), of_left, rest));
    };
    const __m512i units[] = {add(done), add(done + 16), add(done + 32), add(done + 48)};
    if (!StoreUnits(units, tested, to + done)) break;
  }
  return done;
}

}  // namespace
}  // namespace poprt::kernels
