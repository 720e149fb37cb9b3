#include <immintrin.h>

#include "runtime/kernels/quantized/byte_conv_tiles_impl.hpp"
#include "runtime/kernels/quantized/byte_depthwise_tiles_impl.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels_impl.hpp"
#include "runtime/kernels/quantized/byte_planes_tiles_impl.hpp"
#include "runtime/kernels/quantized/byte_vectors_avx2.hpp"

namespace poprt::kernels {
namespace {

struct Avx2Vnni {
  static constexpr std::int64_t kLanes = 8;
  static constexpr int kVectors = 2;
  static constexpr std::int64_t kMostRows = 6;
  static constexpr int kTilePixels = 6;
  static constexpr int kTileOuts = 1;
  static constexpr bool kPairsPixels = false;
  static constexpr bool kStoresFour = false;
  using Values = __m256i;
  using Factors = __m256i;
  // As the instruction has it: g++ copies sums of type __m256i around it.
  using Sums [[gnu::vector_size(32)]] = std::int32_t;

  static Values Load(const Quad* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static Factors Broadcast(Quad factor) { return _mm256_set1_epi32(static_cast<int>(factor)); }
  static Values Repeat(const std::uint8_t* four) { return RepeatQuad(four); }
  static Factors LoadFactors(const Quad* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static Values FourPixels(const std::uint8_t* pixels, std::int64_t lane) {
    return QuadsOfPixels(pixels, lane);
  }
  static Sums Zero() { return Sums{}; }
  static Sums LoadSums(const std::int32_t* from) {
    return reinterpret_cast<Sums>(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static Sums Add(Sums sums, Values values, Factors factors) {
    return reinterpret_cast<Sums>(
        _mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(sums), values, factors));
  }
  static void StoreBytes(const Sums (&sums)[2], const ByteEpilogue& epilogue, std::uint8_t* y) {
    StoreSixteenBytes(reinterpret_cast<__m256i>(sums[0]), reinterpret_cast<__m256i>(sums[1]),
                      epilogue, y);
  }
  static void Store(std::int32_t* to, Sums sums) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(sums));
  }
};

}  // namespace

const ByteMicroKernels kAvx2VnniByteMicroKernels{.name = "avx2_vnni",
                                                 .pixels = Avx2Vnni::kTilePixels,
                                                 .outs = Avx2Vnni::kTileOuts,
                                                 .without_unit = nullptr,
                                                 .rows = kQuadRows,
                                                 .multiply = Multiply<Avx2Vnni>,
                                                 .interleave = Interleave,
                                                 .convolve = Convolve<Avx2Vnni>,
                                                 .planes_outs = Avx2Vnni::kTileOuts,
                                                 .convolve_planes = ConvolvePlanes<Avx2Vnni>,
                                                 .depthwise = Depthwise<Avx2Vnni>,
                                                 .add = AddBytes,
                                                 .integer_rows = &kAvx2IntegerRows,
                                                 .wide_integer_rows = &kAvx2WideIntegerRows};

}  // namespace poprt::kernels
