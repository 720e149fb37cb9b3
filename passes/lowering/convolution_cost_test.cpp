#include "passes/lowering/convolution_cost.hpp"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "passes/decision.hpp"

namespace poprt::passes {
namespace {

/// With one pixel of padding all around.
ConvolutionSize Image(std::int64_t in, std::int64_t out, std::int64_t height, std::int64_t width) {
  return {.in_channels = in,
          .out_channels = out,
          .in_height = height,
          .in_width = width,
          .out_height = height,
          .out_width = width};
}

ConvolutionSize Square(std::int64_t in, std::int64_t out, std::int64_t extent) {
  return Image(in, out, extent, extent);
}

/// The tile that ChooseWinograd takes by the costs.
std::int64_t ChooseWinogradTile(const ConvolutionSize& size) {
  std::vector<double> costs;
  costs.reserve(kWinogradTiles.size());
  for (const std::int64_t tile : kWinogradTiles) costs.push_back(ConvolutionCost(tile, size));
  return kWinogradTiles[CheapestWorthwhile(costs)];
}

/// Milliseconds at the clock of the machine that the costs were fitted on.
double Milliseconds(double cycles) { return cycles / 3.125e6; }

TEST(ConvolutionCost, AgreesWithMeasurements) {
  struct Measured {
    std::int64_t in;
    std::int64_t out;
    std::int64_t extent;
    double direct;
    double tile2;
    double tile4;
  };
  constexpr Measured kMeasured[] = {
      {64, 64, 56, 2.381, 1.338, 0.851},   {128, 128, 28, 2.324, 1.249, 0.792},
      {256, 256, 14, 2.282, 1.230, 1.071}, {512, 512, 7, 2.215, 1.753, 2.114},
      {128, 192, 28, 3.490, 1.826, 1.174}, {96, 128, 55, 6.788, 3.854, 2.393},
      {32, 32, 112, 2.871, 1.737, 1.192},  {512, 512, 28, 40.78, 20.15, 12.17},
      {512, 512, 14, 9.328, 4.973, 4.519}, {64, 64, 224, 39.59, 22.11, 14.90},
      {48, 192, 27, 1.250, 0.724, 0.470},  {256, 256, 28, 9.285, 4.822, 2.984},
  };
  for (const Measured& m : kMeasured) {
    SCOPED_TRACE(testing::Message() << m.in << " -> " << m.out << " channels, " << m.extent);
    const ConvolutionSize size = Square(m.in, m.out, m.extent);
    EXPECT_NEAR(Milliseconds(DirectCost(size)) / m.direct, 1, 0.2);
    EXPECT_NEAR(Milliseconds(WinogradCost(2, size)) / m.tile2, 1, 0.2);
    EXPECT_NEAR(Milliseconds(WinogradCost(4, size)) / m.tile4, 1, 0.2);
  }
}

/// Microseconds on a Zen 4 core of layers whose weights stay in a cache, except for those of the
/// last: tile 2 is faster there, by a quarter, but not worth 7 MB.
TEST(ConvolutionCost, AgreesWithMeasurementsOfSmallImages) {
  struct Measured {
    std::int64_t channels;
    std::int64_t extent;
    double direct;
    std::int64_t chosen;
  };
  constexpr Measured kMeasured[] = {
      {64, 3, 6.8, 0},   {128, 4, 46.9, 2}, {64, 5, 18.2, 2},    {128, 5, 67.9, 2},
      {256, 5, 279, 2},  {64, 6, 29.2, 2},  {128, 6, 106.6, 2},  {64, 7, 31.8, 4},
      {128, 7, 126, 4},  {256, 7, 555, 2},  {128, 10, 272.8, 4}, {256, 8, 677, 2},
      {512, 5, 1230, 0},
  };
  for (const Measured& m : kMeasured) {
    SCOPED_TRACE(testing::Message() << m.channels << " channels, " << m.extent);
    const ConvolutionSize size = Square(m.channels, m.channels, m.extent);
    constexpr double kCyclesPerMicrosecond = 3660;
    EXPECT_NEAR(DirectCost(size) / kCyclesPerMicrosecond / m.direct, 1, 0.25);
    EXPECT_EQ(ChooseWinogradTile(size), m.chosen);
  }
}

TEST(ConvolutionCost, ChoosesByLayer) {
  EXPECT_EQ(ChooseWinogradTile(Square(64, 64, 56)), 4);
  EXPECT_EQ(ChooseWinogradTile(Square(128, 128, 28)), 4);
  EXPECT_EQ(ChooseWinogradTile(Square(96, 128, 55)), 4);
  EXPECT_EQ(ChooseWinogradTile(Square(32, 32, 112)), 4);
  EXPECT_EQ(ChooseWinogradTile(Square(512, 512, 28)), 4);
  // Late layers have few tiles for each of their weights.
  EXPECT_EQ(ChooseWinogradTile(Square(512, 512, 7)), 2);
  EXPECT_EQ(ChooseWinogradTile(Square(160, 320, 7)), 2);
  EXPECT_EQ(ChooseWinogradTile(Square(512, 512, 2)), 0);
  // Tile 4 computes 16x16 pixels of 14x14, which saves too little for the memory of large weights.
  EXPECT_EQ(ChooseWinogradTile(Square(128, 128, 14)), 4);
  EXPECT_EQ(ChooseWinogradTile(Square(256, 256, 14)), 2);
  EXPECT_EQ(ChooseWinogradTile(Square(512, 512, 14)), 2);
  EXPECT_EQ(ChooseWinogradTile(Square(512, 512, 16)), 4);
  // Most of a tile lies outside of a narrow image.
  EXPECT_EQ(ChooseWinogradTile(Image(64, 64, 1, 100)), 0);
  EXPECT_EQ(ChooseWinogradTile(Image(64, 64, 100, 1)), 0);
}

/// A line or an image that the filter's padding keeps as large as it is.
ConvolutionSize Filter(std::int64_t channels, std::int64_t rows, std::int64_t columns,
                       std::int64_t height, std::int64_t width) {
  ConvolutionSize size = Image(channels, channels, height, width);
  size.kernel_height = rows;
  size.kernel_width = columns;
  return size;
}

/// On another core, at the clock that its direct convolutions of many channels show.
TEST(ConvolutionCost, AgreesWithMeasurementsOfLinesAndWideFilters) {
  struct Measured {
    ConvolutionSize size;
    double direct;  ///< microseconds
    double tile4;
  };
  const Measured measured[] = {
      {Filter(64, 1, 3, 1, 512), 109.8, 80.6},      {Filter(128, 1, 3, 1, 256), 212.4, 126.6},
      {Filter(512, 1, 3, 1, 200), 2529.8, 1376.4},  {Filter(128, 1, 7, 1, 256), 479.1, 348.2},
      {Filter(256, 1, 11, 1, 200), 2387.8, 1399.1}, {Filter(128, 2, 3, 28, 28), 1211.5, 712.1},
      {Filter(128, 3, 1, 28, 28), 620.7, 369.8},    {Filter(64, 5, 5, 28, 28), 1271.3, 623.2},
      {Filter(128, 5, 5, 28, 28), 5005.4, 2340.1},  {Filter(128, 7, 7, 28, 28), 9971.0, 5222.2},
      {Filter(64, 9, 9, 28, 28), 4121.3, 1466.5},
  };
  for (const Measured& m : measured) {
    SCOPED_TRACE(testing::Message() << m.size.in_channels << " channels, " << m.size.kernel_height
                                    << "x" << m.size.kernel_width);
    constexpr double kCyclesPerMicrosecond = 4100;
    EXPECT_NEAR(DirectCost(m.size) / kCyclesPerMicrosecond / m.direct, 1, 0.15);
    EXPECT_NEAR(WinogradCost(4, m.size) / kCyclesPerMicrosecond / m.tile4, 1, 0.15);
  }
}

TEST(ConvolutionCost, CountsOnlyTapsThatMeetTheImage) {
  ConvolutionSize size = Square(64, 64, 56);
  const double same = DirectCost(size);
  size.in_height = size.in_width = 58;
  EXPECT_GT(DirectCost(size), same);
  EXPECT_EQ(WinogradCost(4, size), WinogradCost(4, Square(64, 64, 56)));
}

TEST(ConvolutionCost, WeightsThatNoCacheKeepsAreWorthMemory) {
  const ConvolutionSize near = Square(64, 64, 14);
  EXPECT_EQ(ConvolutionCost(4, near), WinogradCost(4, near));
  const ConvolutionSize far = Square(512, 512, 14);
  const auto worth = [&](std::int64_t tile, double cycles) {
    return ConvolutionCost(tile, far) - cycles;
  };
  const double direct = worth(0, DirectCost(far));
  const double tile2 = worth(2, WinogradCost(2, far));
  const double tile4 = worth(4, WinogradCost(4, far));
  EXPECT_GT(direct, 0);
  // In proportion to the numbers for each tap and channel: 9, 16 and 36.
  EXPECT_NEAR((tile4 - tile2) / (tile2 - direct), 20.0 / 7, 1e-9);
}

TEST(ConvolutionCost, BatchesShareTheWeights) {
  ConvolutionSize size = Square(512, 512, 7);
  size.batch = 16;
  EXPECT_EQ(ChooseWinogradTile(size), 4);
}

}  // namespace
}  // namespace poprt::passes
