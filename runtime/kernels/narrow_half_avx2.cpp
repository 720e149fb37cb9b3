#include <immintrin.h>

#include <cstring>

#include "runtime/kernels/narrow_half.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kLanes = 8;

__m128i Narrow(__m256 x) {
  const __m256 sign = _mm256_and_ps(x, _mm256_set1_ps(-0.0F));
  const __m256 quiet = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
  const __m256 is_nan = _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
  return _mm256_cvtps_ph(_mm256_blendv_ps(x, _mm256_or_ps(sign, quiet), is_nan),
                         _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

}  // namespace

void NarrowHalvesAvx2(const float* from, std::int64_t n, std::uint16_t* to) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), Narrow(_mm256_loadu_ps(from + i)));
  }
  if (i == n) return;
  const auto left = static_cast<std::size_t>(n - i);
  float rest[kLanes] = {};
  std::memcpy(rest, from + i, left * sizeof(float));
  std::uint16_t narrowed[kLanes];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(narrowed), Narrow(_mm256_loadu_ps(rest)));
  std::memcpy(to + i, narrowed, left * sizeof(std::uint16_t));
}

}  // namespace poprt::kernels
