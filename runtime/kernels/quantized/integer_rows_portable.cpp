#include "runtime/kernels/quantized/integer_rows_impl.hpp"

namespace poprt::kernels {
namespace {

struct Portable {
  static constexpr int kLanes = 16;
  static constexpr int kRows = 2;
  static constexpr int kPanels = 1;
  static constexpr int kPanelsOfOneRow = 1;
  static constexpr bool kIsWide = false;
  static constexpr bool kHasDigits = false;
  struct Words {
    std::uint32_t lane[kLanes];
  };
  using Factors = Words;
  using Sums = Words;

  static Words Load(const std::byte* from) {
    Words words;
    __builtin_memcpy(&words, from, sizeof(words));
    return words;
  }
  static Words Set(std::uint32_t word) {
    Words words;
    for (std::uint32_t& lane : words.lane) lane = word;
    return words;
  }
  static Factors LoadFactors(const std::uint32_t* from) { return Set(*from); }
  static Sums SetSums(std::int32_t sum) { return Set(static_cast<std::uint32_t>(sum)); }
  template <int kBits, int i>
  static Words Field(Words words) {
    for (std::uint32_t& lane : words.lane) {
      lane = kBits == 16 ? lane : lane >> (kBits * i) & ((1U << kBits) - 1) * 0x10001U;
    }
    return words;
  }
  static Sums Add(Sums sums, const Words& field, const Factors& factors) {
    for (int i = 0; i < kLanes; ++i) {
      for (int half = 0; half < 32; half += 16) {
        const auto x = static_cast<std::int16_t>(field.lane[i] >> half);
        const auto y = static_cast<std::int16_t>(factors.lane[i] >> half);
        sums.lane[i] += static_cast<std::uint32_t>(x * y);
      }
    }
    return sums;
  }
  static void AddScaled(const Sums& sums, float scale, const float* scales, float* to) {
    for (int i = 0; i < kLanes; ++i) {
      to[i] += static_cast<float>(static_cast<std::int32_t>(sums.lane[i])) * scale * scales[i];
    }
  }
};

struct PortableWide : Portable {
  static constexpr bool kIsWide = true;
};

}  // namespace

const IntegerRowKernels kPortableIntegerRows = kIntegerRows<Portable>;
const IntegerRowKernels kPortableWideIntegerRows = kIntegerRows<PortableWide>;

}  // namespace poprt::kernels
