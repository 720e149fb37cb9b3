#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace poprt::kernels {

/// The generator MT19937, seeded and read as NumPy's RandomState does, so that random operators
/// give the numbers of ONNX's reference implementation. A value: copies go on independently.
class MersenneTwister {
 public:
  explicit MersenneTwister(std::uint32_t seed) {
    for (std::size_t i = 0; i < kWords; ++i) {
      state_[i] = seed;
      seed = 1812433253U * (seed ^ (seed >> 30)) + static_cast<std::uint32_t>(i) + 1U;
    }
  }

  std::uint32_t NextWord() {
    if (at_ == kWords) Refill();
    std::uint32_t word = state_[at_++];
    word ^= word >> 11;
    word ^= (word << 7) & 0x9D2C5680U;
    word ^= (word << 15) & 0xEFC60000U;
    return word ^ (word >> 18);
  }

  /// In [0, 1), a multiple of 2^-53.
  double NextUniform() {
    const std::uint32_t high = NextWord() >> 5;
    const std::uint32_t low = NextWord() >> 6;
    return (high * 0x1p26 + low) * 0x1p-53;
  }

 private:
  static constexpr std::size_t kWords = 624;
  static constexpr std::size_t kShift = 397;

  void Refill() {
    for (std::size_t i = 0; i < kWords; ++i) {
      const std::uint32_t mixed =
          (state_[i] & 0x80000000U) | (state_[(i + 1) % kWords] & 0x7FFFFFFFU);
      state_[i] =
          state_[(i + kShift) % kWords] ^ (mixed >> 1) ^ ((mixed & 1U) != 0 ? 0x9908B0DFU : 0U);
    }
    at_ = 0;
  }

  std::array<std::uint32_t, kWords> state_;
  std::size_t at_ = kWords;
};

}  // namespace poprt::kernels
