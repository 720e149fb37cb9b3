#include <immintrin.h>

#include "runtime/kernels/quantized/quad_tiles_impl.hpp"

namespace poprt::kernels {
namespace {

/// Bytes widened to pairs of 16 bits, whose products no instruction saturates.
struct Avx2 {
  static constexpr std::int64_t kLanes = 8;
  static constexpr int kVectors = 2;
  static constexpr std::int64_t kMostRows = 4;
  struct Pairs {
    __m256i even;
    __m256i odd;
  };
  using Values = Pairs;
  using Factors = Pairs;
  using Sums = __m256i;

  static Values Load(const Quad* from) {
    const __m256i quads = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return {_mm256_and_si256(quads, _mm256_set1_epi16(0xFF)), _mm256_srli_epi16(quads, 8)};
  }
  static Factors Broadcast(Quad factor) {
    const __m256i quads = _mm256_set1_epi32(static_cast<int>(factor));
    return {_mm256_srai_epi16(_mm256_slli_epi16(quads, 8), 8), _mm256_srai_epi16(quads, 8)};
  }
  static Sums Zero() { return _mm256_setzero_si256(); }
  static Sums Add(Sums sums, const Values& values, const Factors& factors) {
    const __m256i even = _mm256_madd_epi16(values.even, factors.even);
    const __m256i odd = _mm256_madd_epi16(values.odd, factors.odd);
    return _mm256_add_epi32(sums, _mm256_add_epi32(even, odd));
  }
  static void Store(std::int32_t* to, Sums sums) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sums);
  }
};

}  // namespace

const QuadTiles kAvx2QuadTiles{
    .name = "avx2", .multiply = Multiply<Avx2>, .interleave = Interleave};

}  // namespace poprt::kernels
