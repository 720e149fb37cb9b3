#include "compiler/ipu/plan/layout.hpp"

#include <gtest/gtest.h>

namespace poprt::ipu {
namespace {

const TileRange kTiles{0, 1472};

TensorType Half(Shape shape) { return {ElementType::kFloat16, std::move(shape)}; }

Target Ipu21() { return *FindTarget("ipu21"); }

TEST(LayoutTest, LinearMappingHasGrainsOfAVector) {
  // 1472 x 10 elements: 10 are rounded up to 12, three vectors of four.
  const Layout layout = LinearLayout(Ipu21(), {0, 100}, Half({14720}));
  EXPECT_EQ(layout.mapping.bytes_per_tile, 148U * 2);
  EXPECT_EQ(layout.mapping.tiles.count, 100U);
  EXPECT_EQ(layout.mapping.tiles.first, 0U);
}

TEST(LayoutTest, ATileHasAtLeast128Bytes) {
  const Layout layout = LinearLayout(Ipu21(), kTiles, Half({100}));
  EXPECT_EQ(layout.mapping.bytes_per_tile, 128U);
  EXPECT_EQ(layout.mapping.tiles.count, 2U);
  EXPECT_LE(layout.mapping.tiles.first + 2, 1472U);
}

TEST(LayoutTest, LayoutsKeepToTheirTiles) {
  const TileRange tiles{64, 1408};
  for (const std::int64_t n : {1, 100, 5000, 90000, 4000000}) {
    const TileRange used = LinearLayout(Ipu21(), tiles, Half({n})).mapping.tiles;
    EXPECT_GE(used.first, 64U) << n;
    EXPECT_LE(used.first + used.count, 1472U) << n;
  }
}

TEST(LayoutTest, RowsOfAFieldAreRegions) {
  // 4 x 16 channels of half rows: a tile has 16 channels of two rows of 28 positions twice.
  const TensorType type = Half({1, 64, 56, 56});
  Grid grid{.stride = 56 * 56, .extent = 64, .group = 16, .parts = 4, .others = 28};
  EXPECT_EQ(RegionsPerTile({type, GridLayout(kTiles, type, grid)}), 1U);
  grid.runs_together = 28;
  EXPECT_EQ(RegionsPerTile({type, GridLayout(kTiles, type, grid)}), 4U);
  grid.runs_together = 112;
  EXPECT_EQ(RegionsPerTile({type, GridLayout(kTiles, type, grid)}), 1U);
  EXPECT_EQ(RegionsPerTile({type, LinearLayout(Ipu21(), kTiles, type)}), 1U);
}

TEST(LayoutTest, ATranspositionAndItsInverseCancel) {
  const Layout layout = LinearLayout(Ipu21(), kTiles, Half({16, 128, 12, 64}));
  const Layout there = TransposedLayout(layout, {16, 128, 12, 64}, {0, 2, 1, 3});
  EXPECT_NE(there.signature, layout.signature);
  EXPECT_EQ(there.stride, 1U);
  EXPECT_EQ(there.run, 64U);
  const Layout back = TransposedLayout(there, {16, 12, 128, 64}, {0, 2, 1, 3});
  EXPECT_EQ(back.signature, layout.signature);
}

TEST(LayoutTest, ASquareTransposedIsElsewhere) {
  const Layout layout = LinearLayout(Ipu21(), kTiles, Half({128, 128}));
  const Layout there = TransposedLayout(layout, {128, 128}, {1, 0});
  EXPECT_FALSE(SamePlace(layout, there));
  EXPECT_EQ(there.stride, 128U);
  EXPECT_TRUE(SamePlace(layout, TransposedLayout(there, {128, 128}, {1, 0})));
}

TEST(LayoutTest, MovingAxesOfExtentOneMovesNothing) {
  const Layout layout = LinearLayout(Ipu21(), kTiles, Half({1, 128, 1, 64}));
  EXPECT_TRUE(SamePlace(layout, TransposedLayout(layout, {1, 128, 1, 64}, {2, 1, 0, 3})));
}

TEST(LayoutTest, APartLiesWhereTheWholeDoes) {
  // 1,024 of 3,072 columns in 96 pieces, each on 13 tiles: those of 32 pieces.
  const Placed whole{
      Half({128, 3072}),
      GridLayout(kTiles, Half({128, 3072}),
                 {.extent = 3072, .group = 16, .parts = 96, .others = 1, .copies = 13})};
  const auto part = [&](std::uint64_t first) {
    return PartLayout(whole, Half({128, 1024}), {{}, {.first = first}});
  };
  const TileRange& tiles = whole.layout.mapping.tiles;
  EXPECT_EQ(tiles.count, 1248U);
  EXPECT_EQ(part(1024).mapping.tiles.first, tiles.first + 416);
  EXPECT_EQ(part(1024).mapping.tiles.count, 416U);
  EXPECT_EQ(part(1024).mapping.bytes_per_tile, whole.layout.mapping.bytes_per_tile);
  EXPECT_EQ(part(1024).parts, 32U);
  EXPECT_EQ(part(1024).run, 16U);
  EXPECT_EQ(part(1000).run, 8U);
  EXPECT_FALSE(SamePlace(part(0), part(1024)));
}

TEST(LayoutTest, PartsOfWhatEveryTileHasLieAlike) {
  const Placed whole{Half({2944, 64}), RowLayout(Ipu21(), kTiles, Half({2944, 64}), 64)};
  const auto part = [&](std::uint64_t first) {
    return PartLayout(whole, Half({2944, 32}), {{}, {.first = first}});
  };
  EXPECT_EQ(part(32).mapping.tiles.count, 1472U);
  EXPECT_EQ(part(32).mapping.bytes_per_tile, 128U);
  EXPECT_TRUE(SamePlace(part(0), part(32)));
  EXPECT_TRUE(SamePlace(PartLayout(whole, whole.type, {{}, {}}), whole.layout));
  // Every other row is on every other tile, and reversed rows are none of the same.
  EXPECT_EQ(PartLayout(whole, Half({1472, 64}), {{.in_order = false}, {}}).mapping.tiles.count,
            1472U);
  EXPECT_EQ(PartLayout(whole, whole.type, {{}, {.in_order = false}}).run, 1U);
}

TEST(LayoutTest, GridsGroupAnAxis) {
  const Layout layout =
      GridLayout(kTiles, Half({80, 64, 56, 56}),
                 {.stride = 56 * 56, .extent = 64, .group = 16, .parts = 4, .others = 320});
  EXPECT_EQ(layout.mapping.tiles.count, 1280U);
  EXPECT_EQ(layout.mapping.bytes_per_tile, 80U * 64 * 56 * 56 * 2 / 1280);
  EXPECT_EQ(layout.run, 16U);
  EXPECT_EQ(layout.mapping.grain_bytes, 32U);
  EXPECT_EQ(InnerExtent(layout, {80, 64, 56, 56}), 64U);
}

TEST(LayoutTest, TheLastGroupIsPadded) {
  const Layout layout =
      GridLayout(kTiles, Half({729, 729}), {.extent = 729, .group = 16, .parts = 46, .others = 2});
  EXPECT_EQ(layout.run, 16U);
  EXPECT_EQ(layout.mapping.grain_bytes, 32U);
}

TEST(LayoutTest, WideIntegersAreKeptAs32Bits) {
  EXPECT_EQ(DeviceBytes({ElementType::kInt64, {10}}), 40U);
  EXPECT_EQ(DeviceBytes({ElementType::kBool, {10}}), 10U);
}

}  // namespace
}  // namespace poprt::ipu
