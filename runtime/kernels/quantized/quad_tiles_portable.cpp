#include "runtime/kernels/quantized/quad_tiles_impl.hpp"

namespace poprt::kernels {
namespace {

struct Portable {
  static constexpr std::int64_t kLanes = 16;
  static constexpr int kVectors = 1;
  static constexpr std::int64_t kMostRows = 4;
  struct Values {
    Quad lane[kLanes];
  };
  using Factors = Quad;
  using Sums = Values;

  static Values Load(const Quad* from) {
    Values values;
    for (std::int64_t i = 0; i < kLanes; ++i) values.lane[i] = from[i];
    return values;
  }
  static Factors Broadcast(Quad factor) { return factor; }
  static Sums Zero() { return {}; }
  static Sums Add(Sums sums, const Values& values, Factors factor) {
    for (int byte = 0; byte < 4; ++byte) {
      // Extended by its sign.
      const Quad signed_byte = ((factor >> (8 * byte) & 0xFFU) ^ 0x80U) - 0x80U;
      for (std::int64_t i = 0; i < kLanes; ++i) {
        sums.lane[i] += (values.lane[i] >> (8 * byte) & 0xFFU) * signed_byte;
      }
    }
    return sums;
  }
  static void Store(std::int32_t* to, const Sums& sums) {
    for (std::int64_t i = 0; i < kLanes; ++i) to[i] = static_cast<std::int32_t>(sums.lane[i]);
  }
};

}  // namespace

const QuadTiles kPortableQuadTiles{
    .name = "portable", .multiply = Multiply<Portable>, .interleave = Interleave};

}  // namespace poprt::kernels
