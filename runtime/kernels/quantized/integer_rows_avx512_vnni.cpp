#include "runtime/kernels/quantized/integer_rows_avx512.hpp"

namespace poprt::kernels {
namespace {

/// One instruction adds the products of four unsigned and four signed numbers of 8 bits a lane.
struct Avx512Vnni {
  static constexpr bool kIsWide = false;
  static constexpr int kLanes = 16;
  static constexpr int kRows = 4;
  static constexpr int kPanels = 2;
  static constexpr int kPanelsOfFewRows = 4;
  static constexpr int kBytesAhead = 0;
  static constexpr bool kHasDigits = true;
  using Words = __m512i;
  struct Factors {
    __m512i upper;
    __m512i lower;
  };
  using Sums = Factors;

  static Words Load(const std::byte* from) { return _mm512_loadu_si512(from); }
  static Factors LoadFactors(const std::uint32_t* from) {
    return {_mm512_set1_epi32(static_cast<int>(from[0])),
            _mm512_set1_epi32(static_cast<int>(from[1]))};
  }
  static Sums SetSums(std::int32_t sum) { return {_mm512_setzero_si512(), _mm512_set1_epi32(sum)}; }
  template <int kBits, int i>
  static Words Field(Words words) {
    if constexpr (kBits == 8) return words;
    return _mm512_and_si512(_mm512_srli_epi16(words, kBits * i), _mm512_set1_epi8(15));
  }
  static Sums Add(const Sums& sums, Words field, const Factors& factors) {
    return {_mm512_dpbusd_epi32(sums.upper, field, factors.upper),
            _mm512_dpbusd_epi32(sums.lower, field, factors.lower)};
  }
  static void AddScaled(const Sums& sums, float scale, const float* scales, float* to) {
    const __m512i sum = _mm512_add_epi32(_mm512_slli_epi32(sums.upper, 8), sums.lower);
    Avx512::AddScaled(sum, scale, scales, to);
  }
};

/// One adds those of two signed numbers of 16 bits and two others.
struct Avx512VnniWide : Avx512 {
  static constexpr int kRows = 12;
  static constexpr bool kIsWide = true;

  static Sums Add(Sums sums, Words field, Factors factors) {
    // g++ keeps the intrinsic's sums in memory.
    asm("vpdpwssd %2, %1, %0" : "+v"(sums) : "v"(field), "v"(factors));
    return sums;
  }
};

}  // namespace

const IntegerRowKernels kAvx512VnniIntegerRows = kIntegerRows<Avx512Vnni>;
const IntegerRowKernels kAvx512VnniWideIntegerRows = kIntegerRows<Avx512VnniWide>;

}  // namespace poprt::kernels
