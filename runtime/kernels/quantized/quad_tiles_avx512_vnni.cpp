#include <immintrin.h>

#include "runtime/kernels/quantized/quad_tiles_impl.hpp"

namespace poprt::kernels {
namespace {

struct Avx512Vnni {
  static constexpr std::int64_t kLanes = 16;
  static constexpr int kVectors = 3;
  static constexpr std::int64_t kMostRows = 6;
  using Values = __m512i;
  using Factors = __m512i;
  // As the instruction has it: g++ copies sums of type __m512i around it.
  using Sums [[gnu::vector_size(64)]] = std::int32_t;

  static Values Load(const Quad* from) { return _mm512_loadu_si512(from); }
  static Factors Broadcast(Quad factor) { return _mm512_set1_epi32(static_cast<int>(factor)); }
  static Sums Zero() { return Sums{}; }
  static Sums Add(Sums sums, Values values, Factors factors) {
    return reinterpret_cast<Sums>(
        _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sums), values, factors));
  }
  static void Store(std::int32_t* to, Sums sums) {
    _mm512_storeu_si512(to, reinterpret_cast<__m512i>(sums));
  }
};

}  // namespace

const QuadTiles kAvx512VnniQuadTiles{
    .name = "avx512_vnni", .multiply = Multiply<Avx512Vnni>, .interleave = Interleave};

}  // namespace poprt::kernels
