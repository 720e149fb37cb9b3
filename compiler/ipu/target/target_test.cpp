#include "compiler/ipu/target/target.hpp"

#include <gtest/gtest.h>

namespace poprt::ipu {
namespace {

TEST(TargetTest, KnowsThePublishedArchitectures) {
  const auto ipu21 = FindTarget("ipu21");
  ASSERT_TRUE(ipu21.ok());
  EXPECT_EQ(ipu21->tiles, 1472U);
  EXPECT_EQ(ipu21->sram_bytes_per_tile, 638976U);
  EXPECT_EQ(FindTarget("ipu1")->tiles, 1216U);
}

TEST(TargetTest, ListsTheKnownOnes) {
  EXPECT_EQ(FindTarget("ipu3").status().message(),
            "ipu_version is 'ipu3', allowed are ipu1, ipu2, ipu21");
}

TEST(TargetTest, DividesTiles) {
  const Target target = *FindTarget("ipu21");
  EXPECT_EQ(PartitionTiles(target, 128)->compute_tiles, 1344U);
  EXPECT_EQ(PartitionTiles(target, 0)->compute_tiles, 1472U);
  EXPECT_EQ(PartitionTiles(target, 1470)->compute_tiles, 2U);
}

TEST(TargetTest, RefusesImpossiblePartitions) {
  const Target target = *FindTarget("ipu21");
  for (const std::int64_t tiles : {-32, 1, 30, 33, 1471, 1472, 5000}) {
    EXPECT_EQ(PartitionTiles(target, tiles).status().message(),
              "num_io_tiles is " + std::to_string(tiles) +
                  ", allowed are 0 or an even number from 32 to 1470 (ipu21 has 1472 tiles)");
  }
}

}  // namespace
}  // namespace poprt::ipu
