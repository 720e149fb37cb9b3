#include "runtime/kernels/quantized/integer_rows_impl.hpp"

namespace poprt::kernels {
namespace {

struct Portable {
  static constexpr int kLanes = 16;
  static constexpr int kRows = 2;
  static constexpr int kPanels = 1;
  static constexpr int kPanelsOfFewRows = 1;
  static constexpr int kBytesAhead = 0;
  static constexpr bool kIsWide = false;
  static constexpr bool kHasDigits = false;
  struct Words {
    [[gnu::vector_size(kLanes * sizeof(std::int32_t))]] std::int32_t lane;
  };
  using Factors = Words;
  using Sums = Words;

  static Words Load(const std::byte* from) {
    Words words;
    __builtin_memcpy(&words, from, sizeof(words));
    return words;
  }
  static Words Set(std::int32_t word) { return {word - decltype(Words::lane){}}; }
  static Factors LoadFactors(const std::uint32_t* from) {
    return Set(static_cast<std::int32_t>(*from));
  }
  static Sums SetSums(std::int32_t sum) { return Set(sum); }
  template <int kBits, int i>
  static Words Field(const Words& words) {
    if constexpr (kBits == 16) return words;
    return {words.lane >> (kBits * i) & static_cast<std::int32_t>(((1U << kBits) - 1) * 0x10001U)};
  }
  static Words LowerHalf(const Words& words) { return {words.lane << 16 >> 16}; }
  static Words UpperHalf(const Words& words) { return {words.lane >> 16}; }
  static Sums Add(const Sums& sums, const Words& field, const Factors& factors) {
    // As unsigned numbers, whose overflow is defined: weights of a container may be any.
    using Unsigned [[gnu::vector_size(sizeof(sums.lane))]] = std::uint32_t;
    const auto product = [](const Words& a, const Words& b) {
      return reinterpret_cast<Unsigned>(a.lane) * reinterpret_cast<Unsigned>(b.lane);
    };
    const Unsigned sum = reinterpret_cast<Unsigned>(sums.lane) +
                         product(LowerHalf(field), LowerHalf(factors)) +
                         product(UpperHalf(field), UpperHalf(factors));
    return {reinterpret_cast<decltype(sums.lane)>(sum)};
  }
  static void AddScaled(const Sums& sums, float scale, const float* scales, float* to) {
    for (int i = 0; i < kLanes; ++i) {
      to[i] += static_cast<float>(sums.lane[i]) * scale * scales[i];
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
