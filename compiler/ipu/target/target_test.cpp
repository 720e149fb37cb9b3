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

// Section 1.1.
TEST(TargetTest, KnowsThePlatforms) {
  const Target ipu2 = *FindTarget("ipu2");
  EXPECT_EQ(FindPlatform(ipu2, "m2000")->clock_hz, 1330000000U);
  EXPECT_EQ(FindPlatform(ipu2, "bow2000")->clock_hz, 1850000000U);
  EXPECT_EQ(FindPlatform(ipu2, "")->name, "m2000");
  EXPECT_EQ(FindPlatform(*FindTarget("ipu1"), "")->clock_hz, 1600000000U);
  const Platform c600 = *FindPlatform(*FindTarget("ipu21"), "");
  EXPECT_EQ(c600.name, "c600");
  EXPECT_EQ(c600.clock_hz, 1500000000U);
  EXPECT_DOUBLE_EQ(Seconds(c600, 3000000), 0.002);
  EXPECT_EQ(FindPlatform(ipu2, "c600").status().message(),
            "platform is 'c600', allowed for ipu2 are m2000, bow2000");
}

// Section 1.3: the regions of a tile's memory.
TEST(TargetTest, KnowsTheMemoryMap) {
  for (const char* version : {"ipu1", "ipu2", "ipu21"}) {
    const Target target = *FindTarget(version);
    EXPECT_EQ(target.executable_bytes + target.interleaved_bytes, target.sram_bytes_per_tile);
    EXPECT_EQ(target.sram_bytes_per_tile % target.memory_element_bytes, 0U);
  }
  const Target ipu21 = *FindTarget("ipu21");
  EXPECT_EQ(ipu21.executable_bytes, 208U * 1024);
  EXPECT_EQ(ipu21.memory_base_address + ipu21.sram_bytes_per_tile, 0xE8000U);
  EXPECT_EQ(ipu21.unloadable_bytes, 0x450U);
}

// Sections 1.1 and 1.2.
TEST(TargetTest, KnowsTheConstantsOfPlanners) {
  const Target ipu21 = *FindTarget("ipu21");
  EXPECT_EQ(ipu21.worker_threads, 6U);
  EXPECT_EQ(ipu21.exchange_bytes_per_cycle, 4U);
  EXPECT_EQ(ipu21.shared_exchange_bytes_per_cycle, 8U);
  EXPECT_EQ(ipu21.global_sync_cycles, 600U);
  EXPECT_EQ(ipu21.internal_sync_cycles, 126U);
  EXPECT_EQ(ipu21.conv_units_fp8, 16U);
  EXPECT_EQ(FindTarget("ipu2")->conv_units_fp8, 0U);
}

// Section 1.1; section 1.4: 128 Gibit/s a link.
TEST(TargetTest, KnowsTheLinksBetweenIpus) {
  EXPECT_EQ(FindTarget("ipu2")->ipu_links, 10U);
  const Target ipu21 = *FindTarget("ipu21");
  EXPECT_EQ(ipu21.ipu_links, 4U);
  EXPECT_EQ(ipu21.ipu_link_bits_per_second, std::uint64_t{128} << 30);
  EXPECT_EQ(ipu21.ipu_link_efficiency, 0.85);
  EXPECT_EQ(ipu21.ipu_sync_hop_nanoseconds, 15U);
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

TEST(TargetTest, SmallTargetsHaveNoIoTiles) {
  Target target = *FindTarget("ipu21");
  target.tiles = 16;
  EXPECT_EQ(PartitionTiles(target, 0)->compute_tiles, 16U);
  EXPECT_EQ(PartitionTiles(target, 32).status().message(),
            "num_io_tiles is 32, allowed are 0 (ipu21 has 16 tiles)");
}

}  // namespace
}  // namespace poprt::ipu
