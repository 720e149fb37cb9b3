#include "runtime/tensor/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace poprt {
namespace {

TEST(Float16Test, EveryBitPatternSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const auto half = Float16::FromBits(static_cast<std::uint16_t>(bits));
    const auto value = static_cast<float>(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(Float16(value))));
    } else {
      EXPECT_EQ(Float16(value).bits, bits);
    }
  }
}

TEST(Float16Test, RoundsToNearestEven) {
  EXPECT_EQ(Float16(1.0F + 0x1p-11F).bits, Float16(1.0F).bits);
  EXPECT_EQ(Float16(1.0F + 3 * 0x1p-11F).bits, 0x3C02);
  EXPECT_EQ(Float16(0x1p-25F).bits, 0);
  EXPECT_EQ(Float16(3 * 0x1p-25F).bits, 2);
}

TEST(Float16Test, OverflowsToInfinity) {
  EXPECT_EQ(Float16(65519.996F).bits, 0x7BFF);
  EXPECT_EQ(Float16(65520.0F).bits, 0x7C00);
  EXPECT_EQ(Float16(-std::numeric_limits<float>::infinity()).bits, 0xFC00);
}

TEST(BFloat16Test, RoundsToNearestEven) {
  EXPECT_EQ(BFloat16(1.0F).bits, 0x3F80);
  EXPECT_EQ(BFloat16(1.0F + 0x1p-8F).bits, 0x3F80);
  EXPECT_EQ(BFloat16(1.0F + 3 * 0x1p-8F).bits, 0x3F82);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::nanf("")))));
}

}  // namespace
}  // namespace poprt
