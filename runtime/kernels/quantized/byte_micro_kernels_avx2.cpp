#include <immintrin.h>

#include "runtime/kernels/quantized/byte_conv_tiles_impl.hpp"
#include "runtime/kernels/quantized/byte_depthwise_tiles_impl.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels_impl.hpp"
#include "runtime/kernels/quantized/byte_planes_tiles_impl.hpp"
#include "runtime/kernels/quantized/byte_vectors_avx2.hpp"

namespace poprt::kernels {
namespace {

/// Bytes widened to pairs of 16 bits, whose products no instruction saturates.
struct Avx2 {
  static constexpr std::int64_t kLanes = 8;
  static constexpr int kVectors = 2;
  static constexpr std::int64_t kMostRows = 4;
  static constexpr int kTilePixels = 4;
  static constexpr int kTileOuts = 1;
  static constexpr bool kPairsPixels = false;
  static constexpr bool kStoresFour = false;
  struct Pairs {
    __m256i even;
    __m256i odd;
  };
  using Values = Pairs;
  using Factors = Pairs;
  using Sums = __m256i;

  static Values Unsigned(__m256i quads) {
    return {_mm256_and_si256(quads, _mm256_set1_epi16(0xFF)), _mm256_srli_epi16(quads, 8)};
  }
  static Factors Signed(__m256i quads) {
    return {_mm256_srai_epi16(_mm256_slli_epi16(quads, 8), 8), _mm256_srai_epi16(quads, 8)};
  }
  static __m256i LoadQuads(const Quad* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static Values Load(const Quad* from) { return Unsigned(LoadQuads(from)); }
  static Factors Broadcast(Quad factor) {
    return Signed(_mm256_set1_epi32(static_cast<int>(factor)));
  }
  static Values Repeat(const std::uint8_t* four) { return Unsigned(RepeatQuad(four)); }
  static Factors LoadFactors(const Quad* from) { return Signed(LoadQuads(from)); }
  static Values FourPixels(const std::uint8_t* pixels, std::int64_t lane) {
    return Unsigned(QuadsOfPixels(pixels, lane));
  }
  static Sums Zero() { return _mm256_setzero_si256(); }
  static Sums LoadSums(const std::int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static Sums Add(Sums sums, const Values& values, const Factors& factors) {
    const __m256i even = _mm256_madd_epi16(values.even, factors.even);
    const __m256i odd = _mm256_madd_epi16(values.odd, factors.odd);
    return _mm256_add_epi32(sums, _mm256_add_epi32(even, odd));
  }
  static void StoreBytes(const Sums (&sums)[2], const ByteEpilogue& epilogue, std::uint8_t* y) {
    StoreSixteenBytes(sums[0], sums[1], epilogue, y);
  }
  static void Store(std::int32_t* to, Sums sums) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sums);
  }
};

}  // namespace

const ByteMicroKernels kAvx2ByteMicroKernels{.name = "avx2",
                                             .pixels = Avx2::kTilePixels,
                                             .outs = Avx2::kTileOuts,
                                             .without_unit = nullptr,
                                             .rows = kQuadRows,
                                             .multiply = Multiply<Avx2>,
                                             .interleave = Interleave,
                                             .convolve = Convolve<Avx2>,
                                             .planes_outs = Avx2::kTileOuts,
                                             .convolve_planes = ConvolvePlanes<Avx2>,
                                             .depthwise = Depthwise<Avx2>,
                                             .add = AddBytes,
                                             .integer_rows = &kAvx2IntegerRows,
                                             .wide_integer_rows = &kAvx2WideIntegerRows};

}  // namespace poprt::kernels
