#include "runtime/kernels/quantized/byte_conv_tiles_impl.hpp"
#include "runtime/kernels/quantized/byte_depthwise_tiles_impl.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels_impl.hpp"
#include "runtime/kernels/quantized/byte_planes_tiles_impl.hpp"

namespace poprt::kernels {
namespace {

struct Portable {
  static constexpr std::int64_t kLanes = 16;
  static constexpr int kVectors = 1;
  static constexpr std::int64_t kMostRows = 4;
  static constexpr int kTilePixels = 4;
  static constexpr int kTileOuts = 1;
  static constexpr bool kPairsPixels = false;
  static constexpr bool kStoresFour = false;
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
  struct FactorLanes {
    Quad lane[kLanes];
  };
  static Values Repeat(const std::uint8_t* four) {
    Values values;
    for (Quad& lane : values.lane) __builtin_memcpy(&lane, four, sizeof(lane));
    return values;
  }
  static FactorLanes LoadFactors(const Quad* from) {
    FactorLanes factors;
    for (std::int64_t i = 0; i < kLanes; ++i) factors.lane[i] = from[i];
    return factors;
  }
  static Values FourPixels(const std::uint8_t* pixels, std::int64_t /*lane*/) {
    Values values;
    for (std::int64_t i = 0; i < kLanes; ++i) {
      values.lane[i] = pixels[i] | Quad{pixels[16 + i]} << 8 | Quad{pixels[32 + i]} << 16 |
                       Quad{pixels[48 + i]} << 24;
    }
    return values;
  }
  static Sums Zero() { return {}; }
  static Sums LoadSums(const std::int32_t* from) {
    Sums sums;
    for (std::int64_t i = 0; i < kLanes; ++i) sums.lane[i] = static_cast<Quad>(from[i]);
    return sums;
  }
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
  static Sums Add(Sums sums, const Values& values, const FactorLanes& factors) {
    for (int byte = 0; byte < 4; ++byte) {
      for (std::int64_t i = 0; i < kLanes; ++i) {
        const Quad signed_byte = ((factors.lane[i] >> (8 * byte) & 0xFFU) ^ 0x80U) - 0x80U;
        sums.lane[i] += (values.lane[i] >> (8 * byte) & 0xFFU) * signed_byte;
      }
    }
    return sums;
  }
  static void StoreBytes(const Sums (&sums)[1], const ByteEpilogue& epilogue, std::uint8_t* y) {
    for (std::int64_t c = 0; c < kLanes; ++c) {
      const auto sum = static_cast<std::int32_t>(sums[0].lane[c]);
      const double product = static_cast<double>(sum) * static_cast<double>(epilogue.factors[c]);
      const double value = product / kByteUnit + epilogue.point;
      const double floor = value > 0 ? value : 0;
      const double clipped = floor < 255 ? floor : 255;
      // Adding 1.5 * 2^52 rounds to the nearest integer.
      y[c] = static_cast<std::uint8_t>((clipped + 0x1.8p52) - 0x1.8p52);
    }
  }
  static void Store(std::int32_t* to, const Sums& sums) {
    for (std::int64_t i = 0; i < kLanes; ++i) to[i] = static_cast<std::int32_t>(sums.lane[i]);
  }
};

}  // namespace

const ByteMicroKernels kPortableByteMicroKernels{.name = "portable",
                                                 .pixels = Portable::kTilePixels,
                                                 .outs = Portable::kTileOuts,
                                                 .without_unit = nullptr,
                                                 .rows = kQuadRows,
                                                 .multiply = Multiply<Portable>,
                                                 .interleave = Interleave,
                                                 .convolve = Convolve<Portable>,
                                                 .planes_outs = Portable::kTileOuts,
                                                 .convolve_planes = ConvolvePlanes<Portable>,
                                                 .depthwise = Depthwise<Portable>,
                                                 .add = nullptr,
                                                 .integer_rows = &kPortableIntegerRows,
                                                 .wide_integer_rows = &kPortableWideIntegerRows};

}  // namespace poprt::kernels
