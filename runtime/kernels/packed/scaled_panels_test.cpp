#include "runtime/kernels/packed/scaled_panels.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "gtest/gtest.h"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/packed_testing.hpp"
#include "runtime/kernels/packed/scaled_panels_testing.hpp"

namespace poprt::kernels::testing {
namespace {

/// A panel of column 0, with zeros in the others.
Tensor PanelOf(std::int64_t depth, const std::function<float(std::int64_t)>& number) {
  Tensor panel({ElementType::kFloat32, {1, depth, kPanel}});
  for (std::int64_t k = 0; k < depth; ++k) {
    panel.as_mutable<float>()[static_cast<std::size_t>(k * kPanel)] = number(k);
  }
  return panel;
}

TEST(ScaledPanels, BlocksBeginWithScalesAndTwoRowsAreALine) {
  Tensor panels({ElementType::kFloat32, {2, 67, kPanel}});
  const auto numbers = panels.as_mutable<float>();
  const auto set = [&](std::int64_t panel, std::int64_t row, std::int64_t column, float to) {
    numbers[static_cast<std::size_t>((panel * 67 + row) * kPanel + column)] = to;
  };
  set(0, 0, 3, 0.5F);
  set(0, 1, 3, -0.25F);
  set(0, 66, 3, 3);
  set(1, 5, 15, -7);
  const auto scaled = ScalePanels(panels);
  ASSERT_TRUE(scaled.has_value());
  EXPECT_EQ(scaled->type(), (TensorType{ElementType::kInt32, {2, 36, kPanel}}));
  const auto word = [&](std::int64_t line, std::int64_t column) {
    return scaled->as<std::int32_t>()[static_cast<std::size_t>(line * kPanel + column)];
  };
  // The largest of a block is a multiple by 2^14 up to 2^15.
  EXPECT_EQ(word(0, 3), std::bit_cast<std::int32_t>(0x1p-15F));
  EXPECT_EQ(word(1, 3), 0x4000 - 0x2000 * 0x10000);
  EXPECT_EQ(word(33, 3), std::bit_cast<std::int32_t>(0x1p-13F)) << "the second block";
  EXPECT_EQ(word(34, 3), 0);
  EXPECT_EQ(word(35, 3), 0x6000) << "the last row has none behind it";
  EXPECT_EQ(word(36, 15), std::bit_cast<std::int32_t>(0x1p-12F)) << "the second panel";
  EXPECT_EQ(word(36 + 3, 15), -0x7000 * 0x10000);
  EXPECT_EQ(word(0, 0), 0) << "a column of zeros";
}

TEST(ScaledPanels, WholeNumbersAndWhatTwoRowsHaveInCommonAreExact) {
  for (const float unit : {1.0F, 0x1p-20F, 0x1p30F}) {
    const Tensor panel =
        PanelOf(200, [&](std::int64_t k) { return static_cast<float>(k * 163 - 16000) * unit; });
    EXPECT_TRUE(Unscaled(Scaled(panel), 200) == panel) << unit;
  }
  const Tensor largest = PanelOf(2, [](std::int64_t k) { return k == 0 ? 32767.0F : -32767.0F; });
  EXPECT_TRUE(Unscaled(Scaled(largest), 2) == largest);
  EXPECT_TRUE(Unscaled(Scaled(PanelOf(9, [](std::int64_t) { return 0.0F; })), 9) ==
              PanelOf(9, [](std::int64_t) { return 0.0F; }));
}

TEST(ScaledPanels, RoundToTheNearestMultiple) {
  Random random(3);
  constexpr std::int64_t kDepth = 130;
  const Tensor panels = random.Values({ElementType::kFloat32, {3, kDepth, kPanel}});
  const auto scaled = ScalePanels(panels);
  ASSERT_TRUE(scaled.has_value());
  const Tensor kept = Unscaled(*scaled, kDepth);
  const auto at = [&](const Tensor& tensor, std::int64_t panel, std::int64_t k, std::int64_t c) {
    return tensor.as<float>()[static_cast<std::size_t>((panel * kDepth + k) * kPanel + c)];
  };
  for (std::int64_t panel = 0; panel < 3; ++panel) {
    for (std::int64_t k = 0; k < kDepth; ++k) {
      for (std::int64_t c = 0; c < kPanel; ++c) {
        float largest = 0;
        const std::int64_t block = k / kScaledBlock * kScaledBlock;
        for (std::int64_t i = block; i < std::min(block + kScaledBlock, kDepth); ++i) {
          largest = std::max(largest, std::abs(at(panels, panel, i, c)));
        }
        EXPECT_NEAR(at(kept, panel, k, c), at(panels, panel, k, c), largest * 0.502F / 32767);
      }
    }
  }
}

TEST(ScaledPanels, AreRefusedWhereTooMuchIsLost) {
  const auto is_scaled = [](std::int64_t depth, const std::function<float(std::int64_t)>& number) {
    return ScalePanels(PanelOf(depth, number)).has_value();
  };
  const auto wave = [](std::int64_t k) { return 1.5F + std::sin(static_cast<float>(k)); };
  EXPECT_TRUE(is_scaled(500, wave));
  EXPECT_TRUE(is_scaled(500, [&](std::int64_t k) { return k == 70 ? 12 : wave(k); }));
  EXPECT_FALSE(is_scaled(500, [&](std::int64_t k) { return k == 70 ? 500 : wave(k); }))
      << "one hides its block";
  EXPECT_TRUE(is_scaled(500, [&](std::int64_t k) { return k < 64 ? 1e-30F * wave(k) : wave(k); }))
      << "rows that are too small to count";
  EXPECT_FALSE(is_scaled(500, [&](std::int64_t k) { return 1e-30F * wave(k); }));
  EXPECT_TRUE(is_scaled(500, [&](std::int64_t k) { return 0x1p-50F * wave(k); }));
  for (const float number : {0x1p61F, -std::numeric_limits<float>::max(),
                             std::numeric_limits<float>::infinity(), std::nanf("")}) {
    EXPECT_FALSE(is_scaled(80, [&](std::int64_t k) { return k == 79 ? number : 0; })) << number;
  }
  EXPECT_THROW(ScaledPanelsType({ElementType::kFloat16, {1, 4, 16}}), KernelError);
  EXPECT_THROW(ScaledPanelsType({ElementType::kFloat32, {4, 16}}), KernelError);
  EXPECT_THROW(ScaledPanelsType({ElementType::kFloat32, {1, 4, 8}}), KernelError);
}

/// Normally distributed numbers of two panels, those of row k times scale_of(k).
Tensor WithRowScales(const std::function<float(std::int64_t)>& scale_of) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  Tensor panels({ElementType::kFloat32, {2, 256, kPanel}});
  std::int64_t i = 0;
  for (float& x : panels.as_mutable<float>()) x = normal(random) * scale_of(i++ / kPanel % 256);
  return panels;
}

/// What a first layer reads may have features of any unit, and rows that take it back.
TEST(ScaledPanels, AreRefusedWhereRowsLoseTooMuch) {
  const auto is_scaled = [](const std::function<float(std::int64_t)>& scale_of) {
    return ScalePanels(WithRowScales(scale_of)).has_value();
  };
  const auto over_decades = [](float decades) {
    return
        [=](std::int64_t k) { return std::pow(10.0F, decades * std::sin(static_cast<float>(k))); };
  };
  EXPECT_TRUE(is_scaled(over_decades(0.5F)));
  EXPECT_FALSE(is_scaled(over_decades(1)));
  EXPECT_FALSE(is_scaled([](std::int64_t k) { return k == 70 ? 1e-4F : 1; })) << "a single row";
  EXPECT_TRUE(is_scaled([](std::int64_t k) { return k % 3 == 0 ? 0.0F : 1; })) << "rows of zeros";
  EXPECT_TRUE(is_scaled([](std::int64_t k) { return k < 64 ? 1e-4F : 1; })) << "a whole block";
  EXPECT_TRUE(is_scaled([](std::int64_t k) { return k < 64 ? 1e-20F : 1; })) << "almost zeros";
}

TEST(ScaledPanels, EachMatrixHasRowsOfItsOwn) {
  // Side by side the larger ones would hide what the smaller ones lose.
  const auto are_scaled = [](float of_row) {
    const Tensor one = WithRowScales([=](std::int64_t k) { return k == 70 ? of_row : 1; });
    Tensor two({ElementType::kFloat32, {2, 1, 256, kPanel}});
    std::ranges::copy(one.as<float>().first(256 * kPanel), two.as_mutable<float>().begin());
    std::ranges::fill(two.as_mutable<float>().subspan(256 * kPanel), 1.0F);
    return ScalePanels(two).has_value();
  };
  EXPECT_TRUE(are_scaled(1));
  EXPECT_FALSE(are_scaled(1e-4F));
}

}  // namespace
}  // namespace poprt::kernels::testing
