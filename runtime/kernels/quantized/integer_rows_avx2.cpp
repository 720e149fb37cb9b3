#include <immintrin.h>

#include "runtime/kernels/quantized/integer_rows_impl.hpp"

namespace poprt::kernels {
namespace {

struct Avx2 {
  static constexpr int kLanes = 8;
  static constexpr int kRows = 6;
  static constexpr int kPanels = 1;
  static constexpr int kPanelsOfFewRows = 2;
  static constexpr int kBytesAhead = 512;
  static constexpr bool kIsWide = false;
  static constexpr bool kHasDigits = false;
  using Words = __m256i;
  using Factors = __m256i;
  using Sums = __m256i;

  static Words Load(const std::byte* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static Factors LoadFactors(const std::uint32_t* from) {
    return _mm256_set1_epi32(static_cast<int>(*from));
  }
  static Sums SetSums(std::int32_t sum) { return _mm256_set1_epi32(sum); }
  template <int kBits, int i>
  static Words Field(Words words) {
    if constexpr (kBits * (i + 1) == 16) return _mm256_srli_epi16(words, kBits * i);
    return _mm256_and_si256(_mm256_srli_epi16(words, kBits * i),
                            _mm256_set1_epi16((1 << kBits) - 1));
  }
  static Sums Add(Sums sums, Words field, Factors factors) {
    // g++ keeps the intrinsics' sums in memory.
    __m256i products;
    asm("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0"
        : "+x"(sums), "=&x"(products)
        : "x"(field), "x"(factors));
    return sums;
  }
  static void AddScaled(Sums sums, float scale, const float* scales, float* to) {
    const __m256 scaled = _mm256_mul_ps(_mm256_cvtepi32_ps(sums), _mm256_set1_ps(scale));
    _mm256_storeu_ps(to, _mm256_fmadd_ps(scaled, _mm256_loadu_ps(scales), _mm256_loadu_ps(to)));
  }
};

struct Avx2Wide : Avx2 {
  static constexpr bool kIsWide = true;
};

}  // namespace

const IntegerRowKernels kAvx2IntegerRows = kIntegerRows<Avx2>;
const IntegerRowKernels kAvx2WideIntegerRows = kIntegerRows<Avx2Wide>;

}  // namespace poprt::kernels
