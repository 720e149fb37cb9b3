#include "compiler/ipu/cost/conv_units.hpp"

#include <gtest/gtest.h>

namespace poprt::ipu {
namespace {

constexpr ProductFormat kHalf{};
constexpr ProductFormat kHalfToFloat{.half_partials = false};
constexpr ProductFormat kFloat{.input = NumberFormat::kFloat32};
constexpr ProductFormat kQuarter{.input = NumberFormat::kFloat8};

// Section 1.1: multiply-accumulates a cycle of a tile.
TEST(ConvUnitsTest, ReachesThePublishedPeaks) {
  const Target c600 = *FindTarget("ipu21");
  EXPECT_EQ(PeakMacsPerCycle(c600, kHalf), 64U);
  EXPECT_EQ(PeakMacsPerCycle(c600, kHalfToFloat), 32U);
  EXPECT_EQ(PeakMacsPerCycle(c600, kFloat), 16U);
  EXPECT_EQ(PeakMacsPerCycle(c600, kQuarter), 128U);
  const Target gc2 = *FindTarget("ipu1");
  EXPECT_EQ(PeakMacsPerCycle(gc2, kHalf), 32U);
  EXPECT_EQ(PeakMacsPerCycle(gc2, kFloat), 8U);
  EXPECT_EQ(PeakMacsPerCycle(gc2, kQuarter), 0U);
  EXPECT_EQ(PeakMacsPerCycle(*FindTarget("ipu2"), kQuarter), 0U);
}

// Section 8: 282.6 TFLOP/s of a C600, and 250 and 350 of the machines of ipu2.
TEST(ConvUnitsTest, ReachesThePublishedTeraflops) {
  for (const auto& [version, platform, teraflops] :
       {std::tuple("ipu21", "c600", 282.6), {"ipu2", "m2000", 250.6}, {"ipu2", "bow2000", 348.6}}) {
    const Target target = *FindTarget(version);
    const double rate = 2.0 * static_cast<double>(PeakMacsPerCycle(target, kHalf)) * target.tiles *
                        static_cast<double>(FindPlatform(target, platform)->clock_hz);
    EXPECT_NEAR(rate * 1e-12, teraflops, 0.1) << platform;
  }
}

// Section 2.1: L.
TEST(ConvUnitsTest, LoadsWeights) {
  const Target target = *FindTarget("ipu21");
  EXPECT_EQ(CoefficientLoadCycles(target, kHalf, false), 64U);
  EXPECT_EQ(CoefficientLoadCycles(target, kHalf, true), 32U);
  EXPECT_EQ(CoefficientLoadCycles(target, kQuarter, false), 64U);
  EXPECT_EQ(CoefficientLoadCycles(target, kFloat, false), 64U);
}

TEST(ConvUnitsTest, GroupsInputChannels) {
  const Target target = *FindTarget("ipu21");
  EXPECT_EQ(ConvInputGroup(target, kHalf), 16U);
  EXPECT_EQ(ConvInputGroup(target, kFloat), 8U);
  EXPECT_EQ(ConvInputGroup(target, kQuarter), 32U);
}

TEST(ConvUnitsTest, GroupsOutputChannels) {
  const Target target = *FindTarget("ipu21");
  EXPECT_EQ(ConvOutputGroup(target, kHalf), 16U);
  EXPECT_EQ(ConvOutputGroup(target, kHalfToFloat), 8U);
  EXPECT_EQ(ConvOutputGroup(target, kFloat), 16U);
  EXPECT_EQ(ConvOutputGroup(target, kQuarter), 16U);
  EXPECT_EQ(ConvOutputGroup(*FindTarget("ipu1"), kHalf), 8U);
  EXPECT_EQ(ConvOutputGroup(*FindTarget("ipu2"), kQuarter), 0U);
}

TEST(NumberFormatTest, CoversElementTypes) {
  EXPECT_EQ(FormatOf(ElementType::kFloat16), NumberFormat::kFloat16);
  EXPECT_EQ(FormatOf(ElementType::kBFloat16), NumberFormat::kFloat16);
  EXPECT_EQ(FormatOf(ElementType::kInt64), NumberFormat::kInt32);
  EXPECT_EQ(FormatOf(ElementType::kFloat8E4M3FN), NumberFormat::kFloat8);
  EXPECT_EQ(FormatOf(ElementType::kUndefined), std::nullopt);
  const Target target = *FindTarget("ipu21");
  EXPECT_EQ(VectorElements(target, NumberFormat::kFloat16), 4U);
  EXPECT_EQ(VectorElements(target, NumberFormat::kFloat32), 2U);
}

}  // namespace
}  // namespace poprt::ipu
