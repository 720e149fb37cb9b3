#include <immintrin.h>

#include "runtime/kernels/quantized/byte_conv_tiles_impl.hpp"
#include "runtime/kernels/quantized/byte_depthwise_tiles_impl.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels_impl.hpp"
#include "runtime/kernels/quantized/byte_planes_tiles_impl.hpp"
#include "runtime/kernels/quantized/byte_vectors_avx512.hpp"

namespace poprt::kernels {
namespace {

/// Bytes widened to pairs of 16 bits, whose products no instruction saturates.
struct Avx512 {
  static constexpr std::int64_t kLanes = 16;
  static constexpr int kVectors = 3;
  static constexpr std::int64_t kMostRows = 6;
  static constexpr int kTilePixels = 8;
  static constexpr int kTileOuts = 2;
  static constexpr bool kPairsPixels = true;
  static constexpr bool kStoresFour = true;
  struct Pairs {
    __m512i even;
    __m512i odd;
  };
  using Values = Pairs;
  using Factors = Pairs;
  using Sums = __m512i;

  static Values Unsigned(__m512i quads) {
    return {_mm512_and_si512(quads, _mm512_set1_epi16(0xFF)), _mm512_srli_epi16(quads, 8)};
  }
  static Factors Signed(__m512i quads) {
    return {_mm512_srai_epi16(_mm512_slli_epi16(quads, 8), 8), _mm512_srai_epi16(quads, 8)};
  }
  static Values Load(const Quad* from) { return Unsigned(_mm512_loadu_si512(from)); }
  static Factors Broadcast(Quad factor) {
    return Signed(_mm512_set1_epi32(static_cast<int>(factor)));
  }
  static Values Repeat(const std::uint8_t* four) { return Unsigned(RepeatQuad(four)); }
  static Factors LoadFactors(const Quad* from) { return Signed(_mm512_loadu_si512(from)); }
  static Factors LoadNextFactors(const Quad* from) {
    return Signed(_mm512_slli_epi32(_mm512_loadu_si512(from), 8));
  }
  static Values FourPixels(const std::uint8_t* pixels, std::int64_t /*lane*/) {
    return Unsigned(QuadsOfPixels(pixels));
  }
  static Sums Zero() { return _mm512_setzero_si512(); }
  static Sums LoadSums(const std::int32_t* from) { return _mm512_loadu_si512(from); }
  static Sums Add(Sums sums, const Values& values, const Factors& factors) {
    const __m512i even = _mm512_madd_epi16(values.even, factors.even);
    const __m512i odd = _mm512_madd_epi16(values.odd, factors.odd);
    return _mm512_add_epi32(sums, _mm512_add_epi32(even, odd));
  }
  static void StoreBytes(const Sums (&sums)[1], const ByteEpilogue& epilogue, std::uint8_t* y) {
    StoreSixteenBytes(sums[0], epilogue, y);
  }
  [[gnu::always_inline]] static void StoreFour(const Sums (*sums)[1], const ByteEpilogue& epilogue,
                                               std::uint8_t* y) {
    StoreFourPixels(sums[0][0], sums[1][0], sums[2][0], sums[3][0], epilogue, y);
  }
  static void Store(std::int32_t* to, Sums sums) { _mm512_storeu_si512(to, sums); }
};

}  // namespace

const ByteMicroKernels kAvx512ByteMicroKernels{.name = "avx512",
                                               .pixels = Avx512::kTilePixels,
                                               .outs = Avx512::kTileOuts,
                                               .without_unit = nullptr,
                                               .rows = kQuadRows,
                                               .multiply = Multiply<Avx512>,
                                               .interleave = Interleave,
                                               .convolve = Convolve<Avx512>,
                                               .planes_outs = Avx512::kTileOuts,
                                               .convolve_planes = ConvolvePlanes<Avx512>,
                                               .depthwise = Depthwise<Avx512>,
                                               .add = AddBytes,
                                               .integer_rows = &kAvx512IntegerRows,
                                               .wide_integer_rows = &kAvx512WideIntegerRows};

}  // namespace poprt::kernels
