#include <immintrin.h>

#include "runtime/kernels/quantized/byte_conv_tiles_impl.hpp"
#include "runtime/kernels/quantized/byte_depthwise_tiles_impl.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels_impl.hpp"
#include "runtime/kernels/quantized/byte_planes_tiles_impl.hpp"
#include "runtime/kernels/quantized/byte_vectors_avx512.hpp"

namespace poprt::kernels {
namespace {

struct Avx512Vnni {
  static constexpr std::int64_t kLanes = 16;
  static constexpr int kVectors = 3;
  static constexpr std::int64_t kMostRows = 6;
  static constexpr int kTilePixels = 8;
  static constexpr int kTileOuts = 2;
  static constexpr bool kPairsPixels = true;
  static constexpr bool kStoresFour = true;
  using Values = __m512i;
  using Factors = __m512i;
  // As the instruction has it: g++ copies sums of type __m512i around it.
  using Sums [[gnu::vector_size(64)]] = std::int32_t;

  static Values Load(const Quad* from) { return _mm512_loadu_si512(from); }
  static Factors Broadcast(Quad factor) { return _mm512_set1_epi32(static_cast<int>(factor)); }
  static Values Repeat(const std::uint8_t* four) { return RepeatQuad(four); }
  static Factors LoadFactors(const Quad* from) { return _mm512_loadu_si512(from); }
  static Factors LoadNextFactors(const Quad* from) {
    return _mm512_slli_epi32(_mm512_loadu_si512(from), 8);
  }
  static Values FourPixels(const std::uint8_t* pixels, std::int64_t /*lane*/) {
    return QuadsOfPixels(pixels);
  }
  static Sums Zero() { return Sums{}; }
  static Sums LoadSums(const std::int32_t* from) {
    return reinterpret_cast<Sums>(_mm512_loadu_si512(from));
  }
  static Sums Add(Sums sums, Values values, Factors factors) {
    return reinterpret_cast<Sums>(
        _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sums), values, factors));
  }
  static void StoreBytes(const Sums (&sums)[1], const ByteEpilogue& epilogue, std::uint8_t* y) {
    StoreSixteenBytes(reinterpret_cast<__m512i>(sums[0]), epilogue, y);
  }
  [[gnu::always_inline]] static void StoreFour(const Sums (*sums)[1], const ByteEpilogue& epilogue,
                                               std::uint8_t* y) {
    StoreFourPixels(reinterpret_cast<__m512i>(sums[0][0]), reinterpret_cast<__m512i>(sums[1][0]),
                    reinterpret_cast<__m512i>(sums[2][0]), reinterpret_cast<__m512i>(sums[3][0]),
                    epilogue, y);
  }
  static void Store(std::int32_t* to, Sums sums) {
    _mm512_storeu_si512(to, reinterpret_cast<__m512i>(sums));
  }
};

}  // namespace

const ByteMicroKernels kAvx512VnniByteMicroKernels{
    .name = "avx512_vnni",
    .pixels = Avx512Vnni::kTilePixels,
    .outs = Avx512Vnni::kTileOuts,
    .without_unit = nullptr,
    .rows = kQuadRows,
    .multiply = Multiply<Avx512Vnni>,
    .interleave = Interleave,
    .convolve = Convolve<Avx512Vnni>,
    .planes_outs = Avx512Vnni::kTileOuts,
    .convolve_planes = ConvolvePlanes<Avx512Vnni>,
    .depthwise = Depthwise<Avx512Vnni>,
    .add = AddBytes,
    .integer_rows = &kAvx512VnniIntegerRows,
    .wide_integer_rows = &kAvx512VnniWideIntegerRows};

}  // namespace poprt::kernels
