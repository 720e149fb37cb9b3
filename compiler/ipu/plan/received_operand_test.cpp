#include "compiler/ipu/plan/received_operand.hpp"

#include <gtest/gtest.h>

namespace poprt::ipu {
namespace {

/// [729, 1152] x [1152, 3456] on 3 x 54 x 9 tiles: 243 rows, 128 input and 64 output channels each.
ProductPlan PlanForTest() {
  ProductPlan plan;
  plan.variant.product =
      MatrixProduct(NumberFormat::kFloat16, NumberFormat::kFloat16, 1, 729, 1152, 3456);
  plan.splits.width = 3;
  plan.splits.out = 54;
  plan.splits.in = 9;
  plan.cost.input_bytes = 243 * 128 * 2;
  plan.cost.input_received = plan.cost.input_bytes - plan.cost.input_bytes / 54;
  plan.cost.weight_bytes = 128 * 64 * 2;
  plan.cost.weight_received = plan.cost.weight_bytes - plan.cost.weight_bytes / 3;
  return plan;
}

/// Regions of 100 rows with 16 channels of each.
Placed InRegions() {
  Placed operand;
  operand.layout.run = 16;
  operand.layout.runs_together = 100;
  return operand;
}

TEST(ReceivedOperandTest, WhatLiesInPlaceComesInEqualPiecesOfTheOtherTiles) {
  const ReceivedOperand input = ReceivedInput(PlanForTest(), {}, true);
  EXPECT_EQ(input.bytes, 61056U);
  EXPECT_EQ(input.users, 54U);
  EXPECT_EQ(input.pieces, 53U);
  EXPECT_TRUE(input.spread);
  const ReceivedOperand weights = ReceivedWeights(PlanForTest(), {}, true);
  EXPECT_EQ(weights.bytes, 10923U);
  EXPECT_EQ(weights.users, 3U);
  EXPECT_EQ(weights.pieces, 2U);
}

TEST(ReceivedOperandTest, PiecesAreNotSmallerThanAPanel) {
  ProductPlan plan = PlanForTest();
  plan.cost.weight_received = 1023;  // a panel has 512 bytes
  EXPECT_EQ(ReceivedWeights(plan, {}, true).pieces, 1U);
  plan.cost.weight_received = 0;
  EXPECT_EQ(ReceivedWeights(plan, {}, true).pieces, 0U);
}

TEST(ReceivedOperandTest, WhatLiesElsewhereComesInPiecesOfItsRegions) {
  // 8 runs of channels, each of 243 rows in regions of 100: 8 + 8 * 242 / 100, rounded up.
  const ReceivedOperand input = ReceivedInput(PlanForTest(), InRegions(), false);
  EXPECT_EQ(input.bytes, 62208U);
  EXPECT_EQ(input.pieces, 28U);
  EXPECT_FALSE(input.spread);
  // 8 runs, each of 64 output channels.
  EXPECT_EQ(ReceivedWeights(PlanForTest(), InRegions(), false).pieces, 14U);
}

TEST(ReceivedOperandTest, PartsOfRunsComeOneByOne) {
  Placed operand = InRegions();
  operand.layout.run = 256;
  EXPECT_EQ(ReceivedInput(PlanForTest(), operand, false).pieces, 243U);
}

TEST(ReceivedOperandTest, ConstantsLieWhereThePlanHasThem) {
  Placed operand = InRegions();
  operand.constant = true;
  const ReceivedOperand input = ReceivedInput(PlanForTest(), operand, false);
  EXPECT_TRUE(input.constant);
  EXPECT_EQ(input.bytes, 62208U);
  EXPECT_EQ(input.pieces, 54U);
}

}  // namespace
}  // namespace poprt::ipu
