#include "compiler/ipu/cost/ipu_link.hpp"

#include <gtest/gtest.h>

namespace poprt::ipu {
namespace {

Target WithLinks() {
  Target target;
  target.global_sync_cycles = 600;
  target.ipu_links = 4;
  target.ipu_link_bits_per_second = std::uint64_t{128} << 30;
  target.ipu_link_efficiency = 0.85;
  target.ipu_sync_hop_nanoseconds = 15;
  return target;
}

const Platform kGigahertz{.name = "p", .clock_hz = 1'000'000'000};

// 2 x hops x 15 ns at 1 ns a cycle: 1 hop for 2 and 3 IPUs, 2 for 4, 3 for 8.
TEST(IpuLinkTest, SyncsTakeLongerWithMoreIpus) {
  const Target target = WithLinks();
  EXPECT_EQ(IpuSyncCycles(target, kGigahertz, 1), 0U);
  EXPECT_EQ(IpuSyncCycles(target, kGigahertz, 2), 630U);
  EXPECT_EQ(IpuSyncCycles(target, kGigahertz, 3), 630U);
  EXPECT_EQ(IpuSyncCycles(target, kGigahertz, 4), 660U);
  EXPECT_EQ(IpuSyncCycles(target, kGigahertz, 8), 690U);
}

// 4 links x 128 Gibit/s x 0.85 = 58.4 GB/s.
TEST(IpuLinkTest, LinksShareTheBytes) {
  Target target = WithLinks();
  EXPECT_EQ(IpuLinkCycles(target, kGigahertz, 0), 0U);
  EXPECT_EQ(IpuLinkCycles(target, kGigahertz, 58'411'555), 1'000'000U);
  target.ipu_links = 1;
  EXPECT_EQ(IpuLinkCycles(target, kGigahertz, 58'411'555), 4'000'000U);
}

}  // namespace
}  // namespace poprt::ipu
