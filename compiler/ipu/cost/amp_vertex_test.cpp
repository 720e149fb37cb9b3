#include "compiler/ipu/cost/amp_vertex.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/cost/launch.hpp"

namespace poprt::ipu {
namespace {

constexpr ProductFormat kQuarter{.input = NumberFormat::kFloat8};

double Error(std::uint64_t predicted, double measured) {
  return std::abs(static_cast<double>(predicted) / measured - 1.0);
}

// Section 4.4: [N, 16] x [16, 16] of half on one tile of a Bow, measured.
TEST(AmpVertexTest, PredictsMeasuredVerticesWithinTwoPercent) {
  const Target target = *FindTarget("ipu2");
  for (const auto& [rows, measured] : {std::pair(16, 402.0),
                                       {32, 461.0},
                                       {48, 524.0},
                                       {64, 584.0},
                                       {96, 716.0},
                                       {128, 845.0},
                                       {160, 968.0},
                                       {256, 1352.0},
                                       {512, 2381.0},
                                       {1024, 4424.0},
                                       {1536, 6476.0},
                                       {2048, 8525.0}}) {
    const std::uint64_t vertex =
        AmpVertexCycles(target, {.rows = static_cast<std::uint64_t>(rows)});
    EXPECT_LT(Error(vertex, measured), 0.02) << rows << " rows: " << vertex;
    if (rows < 64) continue;  // a launch counts for little
    EXPECT_LT(Error(ComputeSetCycles(target, ComputeSetKind::kAmp, vertex), measured), 0.02)
        << rows << " rows with launch";
  }
}

// Section 4.4: QK^T of SigLIP on a C600, 365 x 80 x 16 of half and 365 x 96 x 16 of FP8 on a tile.
TEST(AmpVertexTest, PredictsMeasuredAttentionScoresWithinTwoPercent) {
  const Target target = *FindTarget("ipu21");
  EXPECT_LT(Error(AmpVertexCycles(target, {.rows = 365, .in_groups = 80 / 16}), 8488), 0.02);
  EXPECT_LT(
      Error(AmpVertexCycles(target, {.format = kQuarter, .rows = 365, .in_groups = 96 / 32}), 5502),
      0.02);
}

// Section 7.2 names these numbers.
TEST(AmpVertexTest, IsTheFormulaOfTheReference) {
  const Target target = *FindTarget("ipu21");
  EXPECT_EQ(AmpVertexCycles(target, {.rows = 365, .in_groups = 5}), 8577U);
  EXPECT_EQ(AmpVertexCycles(target, {.format = kQuarter, .rows = 365, .in_groups = 3}), 5590U);
}

// Section 4.4: compute sets of the projections of SigLIP, with the grids and predictions of section
// 7.2 (cycles of one of the tiles).
TEST(AmpVertexTest, PredictsTheProjectionsOfTheReference) {
  const Target target = *FindTarget("ipu21");
  struct Projection {
    ProductFormat format;
    std::uint64_t rows, in_groups, out_groups, predicted;
    double measured;
  };
  for (const Projection& projection : {
           Projection{{}, 243, 8, 4, 38307, 37277},
           {{}, 146, 9, 2, 14822, 14153},
           {{}, 365, 9, 3, 45371, 48248},
           {{}, 243, 10, 4, 47869, 52187},
           {kQuarter, 146, 9, 3, 26212, 22415},
           {kQuarter, 146, 9, 1, 8782, 8178},
           {kQuarter, 183, 9, 3, 30100, 26425},
           {kQuarter, 183, 9, 3, 30100, 28265},
       }) {
    const std::uint64_t cycles = AmpVertexCycles(target, {.format = projection.format,
                                                          .rows = projection.rows,
                                                          .in_groups = projection.in_groups,
                                                          .out_groups = projection.out_groups});
    EXPECT_EQ(cycles, projection.predicted);
    const bool quarter = projection.format.input == NumberFormat::kFloat8;
    EXPECT_LT(Error(cycles, projection.measured), quarter ? 0.2 : 0.1);
  }
}

// Section 2.1: T = in out (4 R' + 203) + 33 in + 75. The first input channels cost 6 cycles less a
// panel.
TEST(AmpVertexTest, AgreesWithTheClosedFormOfHalf) {
  const Target target = *FindTarget("ipu21");
  for (const std::uint64_t rows : {25U, 61U, 243U, 729U}) {
    for (const std::uint64_t in : {1U, 4U, 30U}) {
      for (const std::uint64_t out : {1U, 4U, 12U}) {
        const double padded = 6.0 * static_cast<double>(CeilDivide(rows, 6));
        const double closed =
            static_cast<double>(in * out) * (4 * padded + 203) + 33 * static_cast<double>(in) + 75;
        EXPECT_LT(Error(AmpVertexCycles(target, {.rows = rows, .in_groups = in, .out_groups = out}),
                        closed),
                  in == 1 ? 0.02 : 0.005)
            << rows << " x " << in << " x " << out;
      }
    }
  }
}

// Section 2.2: T = in out (4 R' + 364) + 46 out + 67, of panels of 32 x 16.
TEST(AmpVertexTest, AgreesWithTheClosedFormOfQuarter) {
  const Target target = *FindTarget("ipu21");
  for (const std::uint64_t rows : {25U, 61U, 243U, 729U}) {
    for (const std::uint64_t in : {2U, 9U, 36U}) {
      for (const std::uint64_t out : {1U, 4U, 12U}) {
        const double padded = 6.0 * static_cast<double>(CeilDivide(rows, 6));
        const double closed =
            static_cast<double>(in * out) * (4 * padded + 364) + 46 * static_cast<double>(out) + 67;
        EXPECT_LT(Error(AmpVertexCycles(
                            target,
                            {.format = kQuarter, .rows = rows, .in_groups = in, .out_groups = out}),
                        closed),
                  0.02)
            << rows << " x " << in << " x " << out;
      }
    }
  }
}

// Section 8: 64 multiply-accumulates a cycle in the limit, half of that with float partials.
TEST(AmpVertexTest, ApproachesThePeak) {
  const Target target = *FindTarget("ipu21");
  const AmpVertex large{.rows = 60000};
  EXPECT_NEAR(60000.0 * 16 * 16 / static_cast<double>(AmpVertexCycles(target, large)), 64, 0.2);
  AmpVertex float_partials = large;
  float_partials.format.half_partials = false;
  EXPECT_NEAR(60000.0 * 16 * 16 / static_cast<double>(AmpVertexCycles(target, float_partials)), 32,
              0.2);
  AmpVertex single = large;
  single.format.input = NumberFormat::kFloat32;
  single.in_groups = 100;
  EXPECT_NEAR(60000.0 * 800 * 16 / static_cast<double>(AmpVertexCycles(target, single)), 16, 0.2);
}

TEST(AmpVertexTest, WideLoadsSaveHalfOfTheLoad) {
  const Target target = *FindTarget("ipu21");
  EXPECT_EQ(AmpVertexCycles(target, {.rows = 60, .in_groups = 3, .out_groups = 2}) -
                AmpVertexCycles(target,
                                {.load_128bit = true, .rows = 60, .in_groups = 3, .out_groups = 2}),
            3 * 2 * 32U);
}

TEST(AmpVertexTest, GroupsOfConvolutionsRepeat) {
  const Target target = *FindTarget("ipu21");
  const std::uint64_t one = AmpVertexCycles(target, {.rows = 60, .in_groups = 2});
  const std::uint64_t ten =
      AmpVertexCycles(target, {.rows = 60, .in_groups = 2, .conv_groups = 10});
  EXPECT_GT(ten, 9 * one);
  EXPECT_LT(ten, 10 * one);
}

TEST(AmpVertexTest, NothingCostsNothing) {
  EXPECT_EQ(AmpVertexCycles(*FindTarget("ipu21"), {.rows = 0}), 0U);
  EXPECT_EQ(AmpVertexCycles(*FindTarget("ipu2"), {.format = kQuarter, .rows = 8}), 0U);
}

}  // namespace
}  // namespace poprt::ipu
