#include "compiler/ipu/cost/reduction_vertex.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "compiler/ipu/cost/partials_reduction.hpp"
#include "compiler/ipu/cost/pooling_vertex.hpp"

namespace poprt::ipu {
namespace {

constexpr auto kSingle = NumberFormat::kFloat32;
constexpr auto kHalf = NumberFormat::kFloat16;

class ReductionTest : public testing::Test {
 protected:
  const Target target_ = *FindTarget("ipu21");
};

// The formulas of section 2.8 for 24 outputs.
TEST_F(ReductionTest, FollowsTheTable) {
  ReductionVertex vertex{.outputs = 24, .partials = 100};
  EXPECT_EQ(ReductionVertexCycles(target_, vertex), 6 * (4 * (100 / 4 + 12) + 17U));
  vertex.interleaved = true;
  EXPECT_EQ(ReductionVertexCycles(target_, vertex), 6 * (4 * (13 + 12) + 17U));
  vertex.interleaved = false;
  vertex.layout = ReductionLayout::kStrided;
  EXPECT_EQ(ReductionVertexCycles(target_, vertex), 6 * (16 + (3 + 8 + 3 + 99U)));
  vertex.log_add = true;
  EXPECT_EQ(ReductionVertexCycles(target_, vertex), 6 * (16 + (3 + 8 + 3 + 13 * 99U)));
  vertex.log_add = false;
  vertex.input = kSingle;
  EXPECT_EQ(ReductionVertexCycles(target_, vertex), 6 * (16 + 2 * (3 + 5 + 3 + 99U)));
  vertex.layout = ReductionLayout::kGeneral;
  EXPECT_EQ(ReductionVertexCycles(target_, vertex), 6 * (33 + 24 + 2 * 2 + 15 + 100 * (17 + 2U)));
}

TEST_F(ReductionTest, CutsFewRowsAmongWorkers) {
  // Two rows: each goes to 3 workers, whose results are added.
  EXPECT_EQ(ReductionVertexCycles(target_, {.outputs = 2, .partials = 1200}),
            6 * ((400 / 4 + 12 + 17) + (1 + 12 + 17U)));
  // Rows too short for that are whole.
  EXPECT_EQ(ReductionVertexCycles(target_, {.outputs = 2, .partials = 8}), 6 * (2 + 12 + 17U));
}

TEST_F(ReductionTest, ReducesToScalars) {
  const ReductionVertex vertex{.input = kHalf,
                               .output = kSingle,
                               .layout = ReductionLayout::kScalar,
                               .outputs = 1,
                               .partials = 4800};
  // 800 on a worker in 100 vectors of two loads; then the 6 results.
  EXPECT_EQ(ReductionVertexCycles(target_, vertex), 6 * ((17 + 200) + (17 + 6U)));
  EXPECT_EQ(ReductionVertexCycles(target_, {.outputs = 0, .partials = 5}), 0U);
}

// Section 2.5.
TEST_F(ReductionTest, AddsPartialsOfProducts) {
  PartialsReduction reduction{.depth = 9, .outputs = 480};
  EXPECT_EQ(PartialsReductionVertexCycles(target_, reduction), 33 + 6 * (20 + (2 * 8 + 9) * 10U));
  reduction.fast_reduce = true;
  EXPECT_EQ(PartialsReductionVertexCycles(target_, reduction), 33 + 6 * (20 + (8 + 9) * 10U));
  reduction.single_input = false;
  EXPECT_EQ(PartialsReductionVertexCycles(target_, reduction), 6 * (32 + (3 * 9 + 8) * 10U));
  reduction.float_partials = true;
  EXPECT_EQ(PartialsReductionVertexCycles(target_, reduction), 6 * (32 + (3 * 9 + 6) * 20U));
  reduction.depth = 1;
  EXPECT_EQ(PartialsReductionVertexCycles(target_, reduction), 6 * (40 + 26U));
  reduction.float_partials = false;
  EXPECT_EQ(PartialsReductionVertexCycles(target_, reduction), 0U);
}

TEST_F(ReductionTest, AddsInStages) {
  const auto depths = [](std::uint64_t depth, bool multi_stage) {
    const ReductionStages stages = PlanReduction(depth, multi_stage);
    return std::vector<std::uint64_t>(stages.begin(), stages.end());
  };
  using Depths = std::vector<std::uint64_t>;
  EXPECT_EQ(depths(1, true), Depths());
  EXPECT_EQ(depths(15, true), Depths({15}));
  EXPECT_EQ(depths(16, true), Depths({4, 4}));
  EXPECT_EQ(depths(19, true), Depths({5, 4}));
  EXPECT_EQ(depths(30, true), Depths({5, 6}));
  EXPECT_EQ(depths(125, true), Depths({5, 5, 5}));
  EXPECT_EQ(depths(125, false), Depths({125}));
}

// Section 2.8: 3 cycles a vector, 30 a row.
TEST_F(ReductionTest, Pools) {
  EXPECT_EQ(
      PoolingVertexCycles(target_, {.rows = 12, .row_elements = 112 * 4, .kernel_positions = 9}),
      6 * 2 * (30 + 3 * 9 * 112U));
  // One row is cut into 6.
  EXPECT_EQ(PoolingVertexCycles(target_, {.rows = 1, .row_elements = 240, .kernel_positions = 4}),
            6 * (30 + 3 * 4 * 10U));
  EXPECT_EQ(PoolingVertexCycles(target_, {.rows = 0, .row_elements = 240}), 0U);
}

}  // namespace
}  // namespace poprt::ipu
