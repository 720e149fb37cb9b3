#include <gtest/gtest.h>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

/// replace_div_with_mul, replace_pow, replace_sum_with_add and fuse_mul_into_matmul.
namespace poprt::passes {
namespace {

TEST(ReplaceDivWithMulTest, IsExactForPowersOfTwo) {
  GraphForTest g;
  g.Output(g.Op("y", "Div", {g.Input("x", {64, 3}), g.Constant("c", {3}, {8, -0.25, 1})}, {64, 3}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("replace_div_with_mul"),
            "  y = Mul(x, c_reciprocal) : float32[64, 3]\n  return y\n");
  EXPECT_EQ(LargestDifference(before, g.graph), 0);
}

TEST(ReplaceDivWithMulTest, LeavesOtherDivisors) {
  for (const double divisor : {3.0, 0.0, 0x1p-20}) {
    GraphForTest g;
    g.Output(g.Op("y", "Div", {g.Input("x", {2}), g.Scalar(divisor)}, {2}));
    const std::string before = g.Text();
    EXPECT_EQ(g.After("replace_div_with_mul"), before);
  }
  GraphForTest integers(ElementType::kInt32);
  integers.Output(integers.Op("y", "Div", {integers.Input("x", {2}), integers.Scalar(2)}, {2}));
  const std::string before = integers.Text();
  EXPECT_EQ(integers.After("replace_div_with_mul"), before);
}

TEST(ReplacePowTest, SquaresByMultiplying) {
  GraphForTest g;
  g.Output(g.Op("y", "Pow", {g.Input("x", {64}), g.Scalar(2)}, {64}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("replace_pow"), "  y = Mul(x, x) : float32[64]\n  return y\n");
  EXPECT_EQ(LargestDifference(before, g.graph), 0);
}

TEST(ReplacePowTest, LeavesOtherExponents) {
  GraphForTest g;
  const auto x = g.Input("x", {2});
  const auto cube = g.Op("cube", "Pow", {x, g.Scalar(3)}, {2});
  g.Output(g.Op("y", "Pow", {cube, g.Constant("e", {2}, {2, 3})}, {2}));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("replace_pow"), before);
}

TEST(FuseMulIntoMatmulTest, TakesScalarsAndColumnFactors) {
  for (const Shape& shape : {Shape{}, Shape{2}}) {
    GraphForTest g;
    const auto w = g.Constant("w", {3, 2}, {1, 2, 3, 4, 5, 6});
    const auto m = g.Op("m", "MatMul", {g.Input("x", {4, 3}), w}, {4, 2});
    const auto c =
        g.Constant("c", shape, shape.empty() ? std::vector<double>{3} : std::vector<double>{3, 7});
    g.Output(g.Op("y", "Mul", {c, m}, {4, 2}));
    const ir::Graph before = g.graph;
    EXPECT_EQ(g.After("fuse_mul_into_matmul"),
              "  y = MatMul(x, m_node_weights) : float32[4, 2]\n  return y\n");
    EXPECT_LE(LargestDifference(before, g.graph), 1e-5);
  }
}

TEST(FuseMulIntoMatmulTest, LeavesRowFactorsAndOtherUses) {
  GraphForTest g;
  const auto w = g.Constant("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  const auto m = g.Op("m", "MatMul", {g.Input("x", {2, 3}), w}, {2, 2});
  g.Output(g.Op("y", "Mul", {m, g.Constant("c", {2, 1}, {1, 2})}, {2, 2}));
  const auto n = g.Op("n", "MatMul", {g.graph.inputs[0], w}, {2, 2});
  g.Output(g.Op("z", "Mul", {n, g.Scalar(2)}, {2, 2}));
  g.Output(n);
  const std::string before = g.Text();
  EXPECT_EQ(g.After("fuse_mul_into_matmul"), before);
}

TEST(ReplaceSumWithAddTest, AddsInOrder) {
  GraphForTest g;
  g.Output(
      g.Op("y", "Sum", {g.Input("a", {2, 1}), g.Input("b", {3}), g.Input("c", {2, 3})}, {2, 3}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("replace_sum_with_add"),
            "  y_node_1:0 = Add(a, b) : float32[2, 3]\n"
            "  y = Add(y_node_1:0, c) : float32[2, 3]\n"
            "  return y\n");
  EXPECT_EQ(LargestDifference(before, g.graph), 0);
}

TEST(ReplaceSumWithAddTest, LeavesWhatWouldRoundInBetween) {
  GraphForTest g(ElementType::kFloat16);
  const auto x = g.Input("x", {2});
  g.Output(g.Op("y", "Sum", {x, x, x}, {2}));
  g.Output(g.Op("z", "Sum", {x, x}, {2}));
  EXPECT_EQ(g.After("replace_sum_with_add"),
            "  y = Sum(x, x, x) : float16[2]\n  z = Add(x, x) : float16[2]\n  return y, z\n");
}

}  // namespace
}  // namespace poprt::passes
