#include "runtime/kernels/wide_loops.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/reduction/folds.hpp"
#include "runtime/kernels/reduction/lane_sum.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kCount = 1003;

/// Numbers of all magnitudes, with some that are special.
std::vector<float> Numbers() {
  std::mt19937 random(7);
  std::vector<float> numbers(kCount);
  for (float& x : numbers) x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  for (std::size_t i = 0; i < 200; ++i) numbers[i] = static_cast<float>(i) / 16.0F - 6.0F;
  return numbers;
}

template <typename Function>
void ExpectSameBits(const Function& function) {
  const std::vector<float> numbers = Numbers();
  std::vector<std::uint32_t> expected;
  for (const InstructionSet set : SupportedInstructionSets()) {
    std::vector<float> results(kCount);
    RunWith(set, [&numbers, &function, y = results.data()] {
      const float* x = numbers.data();
      for (std::int64_t i = 0; i < kCount; ++i) y[i] = function(x[i]);
    });
    std::vector<std::uint32_t> bits;
    bits.reserve(results.size());
    for (const float y : results) bits.push_back(y != y ? 0 : std::bit_cast<std::uint32_t>(y));
    if (expected.empty()) expected = bits;
    EXPECT_EQ(bits, expected) << NameOf(set);
  }
}

TEST(WideLoopsTest, FunctionsHaveTheSameBitsWithEveryInstructionSet) {
  ExpectSameBits([](float x) { return Exp(x); });
  ExpectSameBits([](float x) { return Log(x); });
  ExpectSameBits([](float x) { return Erf(x); });
  ExpectSameBits([](float x) { return Atan(x); });
  ExpectSameBits([](float x) { return Asinh(x); });
  ExpectSameBits([](float x) { return PowerInRange(Abs(x) < 1e30F ? Abs(x) : 1.0F, 1.7); });
  ExpectSameBits([](float x) { return x * 3.0F + 1.0F / x; });
}

TEST(WideLoopsTest, FoldsHaveTheSameBitsWithEveryInstructionSet) {
  std::mt19937 random(11);
  std::vector<float> numbers(kCount);
  for (float& x : numbers) x = static_cast<float>(random()) * 0x1p-32F - 0.5F;
  for (const std::int64_t n : {0, 1, 7, 16, 17, 31, 32, 49, 1003}) {
    std::vector<float> sums;
    for (const InstructionSet set : SupportedInstructionSets()) {
      float sum = 0;
      float best = 0;
      RunWith(set, [x = numbers.data(), n, &sum, &best] {
        const auto value = [x](std::int64_t i) { return x[i]; };
        sum = FoldLanes(n, 0.0F, value, [](float a, float b) { return a + b; });
        best = FoldLanes(n, MaxFold::Identity<float>(), value,
                         [](float a, float b) { return MaxFold::Combine(a, b); });
      });
      sums.push_back(sum);
      EXPECT_EQ(sum, sums.front()) << n << " with " << NameOf(set);
      EXPECT_EQ(best, n == 0 ? MaxFold::Identity<float>()
                             : *std::max_element(numbers.begin(), numbers.begin() + n));
      double exact = 0;
      for (std::int64_t i = 0; i < n; ++i) exact += numbers[static_cast<std::size_t>(i)];
      EXPECT_NEAR(sum, exact, 1e-4);
    }
  }
}

TEST(WideLoopsTest, RangesCoverEverythingOnce) {
  std::vector<int> seen(100);
  ForWideRanges(nullptr, 100, 7, [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
    for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
  });
  EXPECT_EQ(seen, std::vector<int>(100, 1));
}

}  // namespace
}  // namespace poprt::kernels
