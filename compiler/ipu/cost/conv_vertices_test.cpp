#include <gtest/gtest.h>

#include "compiler/ipu/cost/hmac_vertex.hpp"
#include "compiler/ipu/cost/outer_product_vertex.hpp"
#include "compiler/ipu/cost/row_partition.hpp"
#include "compiler/ipu/cost/slic_vertex.hpp"
#include "compiler/ipu/cost/spatial_amp_vertex.hpp"
#include "compiler/ipu/cost/vmac_vertex.hpp"

namespace poprt::ipu {
namespace {

constexpr ProductFormat kQuarter{.input = NumberFormat::kFloat8};
constexpr ProductFormat kSingle{.input = NumberFormat::kFloat32};

class ConvVerticesTest : public testing::Test {
 protected:
  const Target target_ = *FindTarget("ipu21");
};

TEST(RowPartitionTest, WorkersHaveAsManyPositionsEach) {
  const WorkerRows even = RowsOfWorker(12, 10, 6, 3);
  EXPECT_EQ(even.whole_rows, 2U);
  EXPECT_EQ(even.first_width + even.last_width, 0U);
  // 4 rows of 10: the second worker has positions 6 to 12.
  const WorkerRows cut = RowsOfWorker(4, 10, 6, 1);
  EXPECT_EQ(cut.whole_rows, 0U);
  EXPECT_EQ(cut.first_width, 4U);
  EXPECT_EQ(cut.last_width, 3U);
  EXPECT_EQ(RowsOfWorker(4, 10, 6, 0).first_width, 6U);
  const WorkerRows mixed = RowsOfWorker(9, 10, 6, 1);
  EXPECT_EQ(mixed.whole_rows, 1U);
  EXPECT_EQ(mixed.first_width, 5U);
  EXPECT_EQ(mixed.last_width, 0U);
  EXPECT_EQ(RowsOfWorker(1, 3, 6, 0).first_width, 0U);
  EXPECT_EQ(RowsOfWorker(0, 10, 6, 0).whole_rows, 0U);
}

TEST(RowPartitionTest, TheBusiestWorkerHasMostRows) {
  const auto row = [](std::uint64_t n) { return 100 + n; };
  const WorkerCycles cycles = CyclesOfRows(4, 10, 6, row);
  EXPECT_EQ(cycles.least, 106U);
  EXPECT_EQ(cycles.most, 207U);
}

// Section 2.3 by hand: 3x3 kernel, 12 rows of 14, one group of each.
TEST_F(ConvVerticesTest, SpatialAmpIsTheFormulaOfTheReference) {
  const SpatialAmpVertex vertex{.rows = 12, .row_width = 14, .kernel_outer = 3, .kernel_inner = 3};
  const std::uint64_t worker = 18 + 2 * (3 + 34 + 4 * 11 - 9);
  const std::uint64_t inner = 3 * (14 + 3 * (12 + 64 + 15 + 3)) + 9 * (6 * worker + 9);
  const std::uint64_t zeroing = 6 * (12 * 14 * 16 / 6 / 4 + 5);
  EXPECT_EQ(SpatialAmpVertexCycles(target_, vertex),
            109 + 6 * 9 + 6 * 10 + 17 + 1 + 1 + zeroing + 16 + 14 + 14 + inner);
}

// 8 units have half as many weights to load as the 16 that float32 has, and half as much to zero.
TEST_F(ConvVerticesTest, FewOutputChannelsLoadTheWeightsOfTheirUnits) {
  SpatialAmpVertex vertex{.format = {NumberFormat::kFloat32, false}, .rows = 12, .row_width = 14};
  const std::uint64_t wide = SpatialAmpVertexCycles(target_, vertex);
  vertex.out_group_channels = 8;
  const std::uint64_t zeroing = 6 * (12 * 14 * 8 / 6 / 2);
  EXPECT_EQ(wide - SpatialAmpVertexCycles(target_, vertex), 32 + zeroing);
}

TEST_F(ConvVerticesTest, SpatialAmpOfQuarterIsTheFormulaOfTheReference) {
  const SpatialAmpVertex vertex{.format = kQuarter, .rows = 6, .row_width = 14, .kernel_inner = 2};
  const std::uint64_t worker = 18 + 16 + 27 + 4 * 11;
  const std::uint64_t inner = 33 + (67 + 36 + 64) + (50 + 36 + 64) + 2 * (6 * worker + 9);
  EXPECT_EQ(SpatialAmpVertexCycles(target_, vertex), 83 + 37 + 58 + 61 + inner);
}

TEST_F(ConvVerticesTest, SpatialAmpApproachesThePeak) {
  const SpatialAmpVertex vertex{.rows = 60,
                                .row_width = 4000,
                                .kernel_outer = 3,
                                .kernel_inner = 3,
                                .in_groups = 16,
                                .out_groups = 4};
  const double macs = 60.0 * 4000 * 9 * 16 * 16 * 16 * 4;
  EXPECT_NEAR(macs / static_cast<double>(SpatialAmpVertexCycles(target_, vertex)), 64, 1);
}

TEST_F(ConvVerticesTest, FilterHeightFourHasNoWideLoads) {
  SpatialAmpVertex vertex{.rows = 6, .row_width = 14, .filter_height = 4};
  const std::uint64_t narrow = SpatialAmpVertexCycles(target_, vertex);
  vertex.load_128bit = true;
  EXPECT_EQ(SpatialAmpVertexCycles(target_, vertex), narrow);
  vertex.filter_height = 1;
  const std::uint64_t wide = SpatialAmpVertexCycles(target_, vertex);
  vertex.load_128bit = false;
  EXPECT_EQ(SpatialAmpVertexCycles(target_, vertex), wide + 32);
}

// Section 2.4: 10 + 1 of preamble and 15 + (n - 5) a row at stride 1, 15 + 2 (n - 3) at stride 2.
TEST_F(ConvVerticesTest, SlicWalksRows) {
  SlicVertex vertex{.rows = 6, .row_width = 56, .sub_kernels = 3};
  const std::uint64_t load = 21 + 10 * 6 + 16;
  const std::uint64_t kernel = (load + 20) * 3 + 13;
  const std::uint64_t first = 6 * (17 + 11 + 15 + 51);
  const std::uint64_t later = 6 * (17 + 10 + 15 + 51);
  EXPECT_EQ(SlicVertexCycles(target_, vertex), 28 + 1 + 15 + kernel + first + 2 * later);
  vertex.stride = 2;
  const std::uint64_t first_strided = 6 * (17 + 11 + 15 + 2 * 53);
  const std::uint64_t later_strided = 6 * (17 + 10 + 15 + 2 * 53);
  EXPECT_EQ(SlicVertexCycles(target_, vertex),
            28 + 1 + 15 + kernel + first_strided + 2 * later_strided);
}

TEST_F(ConvVerticesTest, SlicTakesMoreForFloatPartialsAndMoreGroups) {
  const SlicVertex half{.rows = 12, .row_width = 28, .sub_kernels = 3};
  SlicVertex floats = half;
  floats.format.half_partials = false;
  EXPECT_GT(SlicVertexCycles(target_, floats), 3 * SlicVertexCycles(target_, half) / 2);
  SlicVertex wide = half;
  wide.groups_per_group = 16;
  EXPECT_GT(SlicVertexCycles(target_, wide), 3 * SlicVertexCycles(target_, half));
  SlicVertex quarter = half;
  quarter.format = kQuarter;
  EXPECT_GT(SlicVertexCycles(target_, quarter), SlicVertexCycles(target_, half));
}

// Section 2.4: 16 - save + rows (19 + n (7 + outputs x dot)).
TEST_F(ConvVerticesTest, HmacMultipliesAlongInputs) {
  const HmacVertex vertex{.format = kSingle,
                          .rows = 6,
                          .row_width = 10,
                          .kernel_positions = 9,
                          .in_group_channels = 2,
                          .out_group_channels = 4};
  const std::uint64_t dot = 3 + 4 + 1;
  const std::uint64_t inner = 6 * (9 * (16 + 19 + 10 * (7 + 4 * dot)) + 16);
  const std::uint64_t zeroing = 6 * (10 * 4 / 2 + 5);
  EXPECT_EQ(HmacVertexCycles(target_, vertex), 58 + 6 * 9 + zeroing + 23 + 15 + 10 + inner);
}

TEST_F(ConvVerticesTest, VmacMultipliesAlongChannels) {
  const VmacVertex vertex{
      .rows = 6, .row_width = 10, .kernel_rows = 3, .kernel_columns = 3, .groups_per_group = 8};
  const std::uint64_t worker = 13 + 10 * 3 * (7 + 15 + 3 + 3 * 2);
  const std::uint64_t reduce = 10 + (7 + 5) * 10;
  EXPECT_EQ(VmacVertexCycles(target_, vertex),
            61 + 14 + 25 + (4 + 60 * 8 / 4) + 32 + 24 + 6 * worker + 6 * reduce);
}

TEST_F(ConvVerticesTest, OuterProductHasAFastPath) {
  EXPECT_EQ(OuterProductVertexCycles(target_, {.rows = 60, .channel_groups = 2}),
            6 * (25 + 2 * (10 + 10 * (6 + 1U))));
  EXPECT_EQ(OuterProductVertexCycles(
                target_, {.format = NumberFormat::kFloat32, .rows = 60, .group_channels = 8}),
            6 * (25 + (11 + 10 * (6 + 1U))));
  EXPECT_EQ(OuterProductVertexCycles(target_, {.rows = 60, .group_channels = 6}),
            6 * (25 + (10 + 10 * (10 + 15U))));
}

TEST_F(ConvVerticesTest, NothingCostsNothing) {
  EXPECT_EQ(SpatialAmpVertexCycles(target_, {}), 0U);
  EXPECT_EQ(SlicVertexCycles(target_, {}), 0U);
  EXPECT_EQ(HmacVertexCycles(target_, {}), 0U);
  EXPECT_EQ(VmacVertexCycles(target_, {}), 0U);
  EXPECT_EQ(OuterProductVertexCycles(target_, {}), 0U);
}

}  // namespace
}  // namespace poprt::ipu
