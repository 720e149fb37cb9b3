#include "compiler/ipu/cost/elementwise_vertex.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <utility>

#include "compiler/ipu/cost/elementwise_steps.hpp"
#include "compiler/ipu/cost/launch.hpp"
#include "compiler/ipu/cost/reduction_vertex.hpp"

namespace poprt::ipu {
namespace {

using Op = ElementwiseOp;
constexpr auto kSingle = NumberFormat::kFloat32;
constexpr auto kHalf = NumberFormat::kFloat16;

class ElementwiseVertexTest : public testing::Test {
 protected:
  std::uint64_t Cycles(const ElementwiseVertex& vertex) const {
    return ElementwiseVertexCycles(target_, vertex);
  }
  std::uint64_t WithLaunch(std::uint64_t cycles) const {
    return ComputeSetCycles(target_, ComputeSetKind::kOther, cycles);
  }

  const Target target_ = *FindTarget("ipu21");
};

// Section 4.4: measured on one tile of a Mk2, 45 cycles of which are the measurement's own.
constexpr double kMeasuring = 45;

TEST_F(ElementwiseVertexTest, PredictsMeasuredAdditions) {
  for (const auto& [elements, raw] : {std::pair(10, 329.0), {1024, 1860.0}}) {
    const std::uint64_t cycles = WithLaunch(Cycles(
        {.op = Op::kAdd, .format = kSingle, .elements = static_cast<std::uint64_t>(elements)}));
    EXPECT_NEAR(static_cast<double>(cycles) / (raw - kMeasuring), 1, 0.1) << elements;
  }
  // Section 7.2: the formula is 81 and 82 cycles below what was measured.
  EXPECT_EQ(Cycles({.op = Op::kAdd, .format = kSingle, .elements = 10}), 329U - 45 - 81);
  EXPECT_EQ(Cycles({.op = Op::kAdd, .format = kSingle, .elements = 1024}), 1860U - 45 - 82);
}

TEST_F(ElementwiseVertexTest, PredictsMeasuredScaledAdditions) {
  // Section 7.2: the formula is 51, 53, 53 and 53 cycles below what was measured.
  for (const auto& [elements, raw, below] :
       {std::tuple(64, 375, 51), {128, 467, 53}, {256, 665, 53}, {512, 1043, 53}}) {
    const std::uint64_t cycles =
        ScaledAddVertexCycles(target_, kSingle, static_cast<std::uint64_t>(elements));
    EXPECT_EQ(cycles, static_cast<std::uint64_t>(raw - 45 - below)) << elements;
    EXPECT_NEAR(static_cast<double>(WithLaunch(cycles)) / (raw - kMeasuring), 1, 0.1) << elements;
  }
}

// Section 4.4: the seven compute sets of a stable softmax over 8 rows of 736 half on a tile of a
// C600 took about 18,300 cycles (maximum, subtract, exp, sum as float, inverse, cast, multiply).
TEST_F(ElementwiseVertexTest, PredictsTheMeasuredSoftmax) {
  const std::uint64_t rows = 8;
  const std::uint64_t elements = rows * 736;
  const auto broadcast = [&](Op op) {
    return Cycles({.op = op,
                   .form = ElementwiseForm::kBroadcastVector,
                   .elements = elements,
                   .in_place = true,
                   .rows = rows});
  };
  const ReductionVertex maximum{.outputs = rows, .partials = 736};
  ReductionVertex sum = maximum;
  sum.output = kSingle;
  const std::uint64_t sets[] = {
      ReductionVertexCycles(target_, maximum),
      broadcast(Op::kSubtract),
      Cycles({.op = Op::kExp, .elements = elements}),
      ReductionVertexCycles(target_, sum),
      Cycles({.op = Op::kInverse, .format = kSingle, .elements = rows}),
      CastVertexCycles(target_, kSingle, kHalf, rows),
      broadcast(Op::kMultiply),
  };
  std::uint64_t cycles = 0;
  for (const std::uint64_t set : sets) cycles += WithLaunch(set);
  EXPECT_NEAR(static_cast<double>(cycles) / 18300, 1, 0.15) << cycles;
}

// Section 8: half additions run at 0.75 cycles an element, exponentials at one.
TEST_F(ElementwiseVertexTest, ReachesThePublishedRates) {
  const std::uint64_t elements = 240000;
  EXPECT_EQ(Cycles({.op = Op::kAdd, .elements = elements}), 167 + elements * 3 / 4);
  EXPECT_NEAR(static_cast<double>(Cycles({.op = Op::kExp, .elements = elements})) /
                  static_cast<double>(elements),
              1, 0.01);
}

// The rows of the table of section 2.7 for 600 elements: 100 on a worker, in 25 vectors of half.
TEST_F(ElementwiseVertexTest, FollowsTheTable) {
  const auto form = ElementwiseForm::kBroadcastScalar;
  EXPECT_EQ(Cycles({.op = Op::kSqrt, .elements = 600}), 6 * (17 + 25 * 23) + 20U);
  EXPECT_EQ(Cycles({.op = Op::kExp, .elements = 600}), 6 * (33 + 25 * 4) + 20U);
  EXPECT_EQ(Cycles({.op = Op::kAbs, .elements = 600}), 6 * (17 + 25 * 5) + 20U);
  EXPECT_EQ(Cycles({.op = Op::kTanh, .elements = 600, .in_place = true}), 6 * (55 + 25 * 2) + 20U);
  EXPECT_EQ(Cycles({.op = Op::kDivide, .elements = 600}), 6 * (26 + 25 * 21) + 11U);
  EXPECT_EQ(Cycles({.op = Op::kMultiply, .elements = 600, .in_place = true}),
            6 * (58 + 25 * 3) + 11U);
  EXPECT_EQ(Cycles({.op = Op::kDivide, .form = form, .elements = 600}), 6 * (20 + 50 * 8) + 11U);
  EXPECT_EQ(Cycles({.op = Op::kMultiply, .form = form, .elements = 600}), 6 * (20 + 25 * 2) + 11U);
  EXPECT_EQ(Cycles({.op = Op::kSelect, .elements = 600}), 6 * (11 + 100 * 5U));
  EXPECT_EQ(Cycles({.op = Op::kClamp, .elements = 600}), 6 * (11 + 25 * 2U));
  EXPECT_EQ(Cycles({.op = Op::kAdd, .format = NumberFormat::kInt32, .elements = 600}),
            6 * (26 + 100 * 7) + 11U);
  EXPECT_EQ(Cycles({.op = Op::kLogicalAnd, .format = NumberFormat::kBool, .elements = 600}),
            6 * (26 + 25 * 5) + 11U);
}

TEST_F(ElementwiseVertexTest, BroadcastsVectorsByRowOrColumn) {
  const auto form = ElementwiseForm::kBroadcastVector;
  // Rows of 16 half: a worker takes 10 of 60.
  EXPECT_EQ(Cycles({.op = Op::kAdd, .form = form, .elements = 960, .rows = 60}),
            6 * (15 + 10 * (7 + 4 * 2)) + 11U);
  // Rows of 240: a worker takes 40 columns of all 4.
  EXPECT_EQ(Cycles({.op = Op::kAdd, .form = form, .elements = 960, .rows = 4, .aligned = false}),
            6 * (15 + 4 * (25 + 10 * 2)) + 11U);
}

TEST_F(ElementwiseVertexTest, GivesRegionsToWorkers) {
  const auto form = ElementwiseForm::kRegions;
  EXPECT_EQ(Cycles({.op = Op::kSqrt, .form = form, .elements = 1200, .rows = 12}),
            6 * (20 + 2 * 25 * 23U));
  EXPECT_EQ(Cycles({.op = Op::kAdd, .form = form, .elements = 600, .rows = 1}), 6 * (5 + 25 * 3U));
}

TEST_F(ElementwiseVertexTest, CastsFloatsAtTheWidthOfTheDataPath) {
  // 100 elements on a worker: 4 half stores take two loads of 2 floats each.
  EXPECT_EQ(CastVertexCycles(target_, kSingle, kHalf, 600), 12 + 6 * (40 + 25 * 2U));
  EXPECT_EQ(CastVertexCycles(target_, kHalf, kSingle, 600), 12 + 6 * (40 + 50U));
  EXPECT_EQ(CastVertexCycles(target_, NumberFormat::kInt8, kHalf, 600), 12 + 6 * (40 + 25 * 9U));
  EXPECT_EQ(CastVertexCycles(target_, NumberFormat::kInt32, kSingle, 600),
            12 + 6 * (40 + 100 * 2U));
  EXPECT_EQ(CastVertexCycles(target_, kHalf, kHalf, 600), 0U);
}

TEST_F(ElementwiseVertexTest, Fills) {
  EXPECT_EQ(FillVertexCycles(target_, kSingle, 600), 6 * (23 + 50U));
  EXPECT_EQ(FillVertexCycles(target_, kHalf, 600), 6 * (26 + 25U));
  EXPECT_EQ(FillVertexCycles(target_, NumberFormat::kInt8, 600), 6 * (39 + 12U));
}

TEST_F(ElementwiseVertexTest, PricesEveryOperationInEveryFormatAndForm) {
  for (int op = 0; op <= static_cast<int>(Op::kClamp); ++op) {
    for (int format = 0; format <= static_cast<int>(NumberFormat::kBool); ++format) {
      for (int form = 0; form <= static_cast<int>(ElementwiseForm::kRegions); ++form) {
        const auto cycles = [&](std::uint64_t elements) {
          return Cycles({.op = static_cast<Op>(op),
                         .format = static_cast<NumberFormat>(format),
                         .form = static_cast<ElementwiseForm>(form),
                         .elements = elements});
        };
        EXPECT_EQ(cycles(0), 0U);
        EXPECT_GT(cycles(1), 0U);
        EXPECT_GT(cycles(100000), cycles(1));
      }
    }
  }
}

TEST(ElementwiseStepsTest, ComposesOperators) {
  const auto add = ElementwiseSteps("Add");
  ASSERT_EQ(add.size(), 1U);
  EXPECT_EQ(add[0].op, Op::kAdd);
  EXPECT_EQ(add[0].second, StepOperand::kTensor);
  const auto mish = ElementwiseSteps("Mish");
  ASSERT_EQ(mish.size(), 4U);
  EXPECT_EQ(mish[1].op, Op::kLog1p);
  EXPECT_EQ(mish[3].second, StepOperand::kTensor);
  EXPECT_EQ(ElementwiseSteps("Celu").size(), 5U);
  EXPECT_TRUE(ElementwiseSteps("MatMul").empty());
  EXPECT_TRUE(ElementwiseSteps("").empty());
}

TEST(LaunchTest, IsConstant) {
  const Target target = *FindTarget("ipu21");
  EXPECT_EQ(ComputeSetCycles(target, ComputeSetKind::kAmp, 1000), 1007U);
  EXPECT_EQ(ComputeSetCycles(target, ComputeSetKind::kOther, 1000), 1060U);
}

}  // namespace
}  // namespace poprt::ipu
