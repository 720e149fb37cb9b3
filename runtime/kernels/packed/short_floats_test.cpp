#include "runtime/kernels/packed/short_floats.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/packed_testing.hpp"

namespace poprt::kernels::testing {
namespace {

Tensor PanelsOf(std::int64_t depth, float first) {
  Tensor panels({ElementType::kFloat32, {1, depth, 16}});
  panels.as_mutable<float>()[0] = first;
  return panels;
}

/// The number that a panel of one row begins with.
float Shortened(float number) {
  const Tensor lines = ShortenPanels(PanelsOf(1, number));
  return std::bit_cast<float>(lines.as<std::uint32_t>()[0]);
}

TEST(ShortFloats, RoundToTheNearest16Bits) {
  for (const float exact : {0.0F, -0.0F, 1.0F, -3.5F, 65535.0F, 0x1.FFFEp126F, 0x1p-140F}) {
    EXPECT_EQ(Shortened(exact), exact);
    EXPECT_EQ(std::signbit(Shortened(exact)), std::signbit(exact));
  }
  EXPECT_EQ(Shortened(0x1.0000FEp0F), 1.0F);
  EXPECT_EQ(Shortened(0x1.000102p0F), 0x1.0002p0F);
  EXPECT_EQ(Shortened(-0x1.00047Fp0F), -0x1.0004p0F);
  EXPECT_EQ(Shortened(0x1.0001p0F), 1.0F) << "to even";
  EXPECT_EQ(Shortened(0x1.0003p0F), 0x1.0004p0F) << "to even";
  EXPECT_EQ(Shortened(0x1.FFFFp0F), 2.0F);
}

TEST(ShortFloats, FourRowsAreThreeLines) {
  Tensor panels({ElementType::kFloat32, {2, 5, 16}});
  const auto numbers = panels.as_mutable<float>();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = std::bit_cast<float>(0x3F000000U + (static_cast<std::uint32_t>(i) << 8));
  }
  const Tensor lines = ShortenPanels(panels);
  EXPECT_EQ(lines.type(), (TensorType{ElementType::kUint32, {2, 6, 16}}));
  const auto words = lines.as<std::uint32_t>();
  // Column 2: rows 0 to 3 are numbers 2, 18, 34 = 0x22 and 50 = 0x32.
  EXPECT_EQ(words[2], 0x3F000222U);
  EXPECT_EQ(words[16 + 2], 0x3F001232U);
  EXPECT_EQ(words[32 + 2], 0x3F003F00U);
  // Row 4 has none behind it.
  EXPECT_EQ(words[48 + 2], 0x3F004200U);
  EXPECT_EQ(words[64 + 2], 0U);
  EXPECT_EQ(words[80 + 2], 0U);
  // The other panel begins with number 80.
  EXPECT_EQ(words[96] >> 8, 0x3F0050U);
}

TEST(ShortFloats, NumbersWithoutAShortFormAreTold) {
  EXPECT_TRUE(CanBeShort(PanelsOf(1, -0x1.FFFFFEp126F)));
  for (const float number : {0x1p127F, -std::numeric_limits<float>::max(),
                             std::numeric_limits<float>::infinity(), std::nanf("")}) {
    EXPECT_FALSE(CanBeShort(PanelsOf(1, number))) << number;
  }
  EXPECT_FALSE(CanBeShort(Tensor({ElementType::kFloat16, {1, 1, 16}})));
  EXPECT_THROW(ShortPanelsType({ElementType::kFloat16, {1, 4, 16}}), KernelError);
  EXPECT_THROW(ShortPanelsType({ElementType::kFloat32, {4, 16}}), KernelError);
  EXPECT_THROW(ShortPanelsType({ElementType::kFloat32, {1, 4, 8}}), KernelError);
}

}  // namespace
}  // namespace poprt::kernels::testing
