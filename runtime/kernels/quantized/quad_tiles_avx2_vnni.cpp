#include <immintrin.h>

#include "runtime/kernels/quantized/quad_tiles_impl.hpp"

namespace poprt::kernels {
namespace {

struct Avx2Vnni {
  static constexpr std::int64_t kLanes = 8;
  static constexpr int kVectors = 2;
  static constexpr std::int64_t kMostRows = 6;
  using Values = __m256i;
  using Factors = __m256i;
  // As the instruction has it: g++ copies sums of type __m256i around it.
  using Sums [[gnu::vector_size(32)]] = std::int32_t;

  static Values Load(const Quad* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static Factors Broadcast(Quad factor) { return _mm256_set1_epi32(static_cast<int>(factor)); }
  static Sums Zero() { return Sums{}; }
  static Sums Add(Sums sums, Values values, Factors factors) {
    return reinterpret_cast<Sums>(
        _mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(sums), values, factors));
  }
  static void Store(std::int32_t* to, Sums sums) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(sums));
  }
};

}  // namespace

const QuadTiles kAvx2VnniQuadTiles{
    .name = "avx2_vnni", .multiply = Multiply<Avx2Vnni>, .interleave = Interleave};

}  // namespace poprt::kernels
