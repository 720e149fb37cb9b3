#include "passes/conversion/sink_transpose.hpp"

#include <gtest/gtest.h>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

const Ints kLast{0, 2, 3, 1};
const Ints kFirst{0, 3, 1, 2};

TEST(SinkTransposeTest, BehindElementwiseOperatorsOfTheSameOrder) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 3, 4, 5});
  const auto gate = g.Input("gate", {2, 3, 1, 1});
  const auto a = g.Op("a", "Transpose", {x}, {2, 4, 5, 3}, {{"perm", kLast}});
  const auto b = g.Op("b", "Transpose", {gate}, {2, 1, 1, 3}, {{"perm", kLast}});
  const auto product = g.Op("m", "Mul", {b, a}, {2, 4, 5, 3});
  g.Output(g.Op("y", "Transpose", {product}, {2, 3, 4, 5}, {{"perm", kFirst}}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("sink_transpose"),
            "  m_node_sunk:0 = Mul(gate, x) : float32[2, 3, 4, 5]\n"
            "  m = Transpose(m_node_sunk:0) perm=[0, 2, 3, 1] : float32[2, 4, 5, 3]\n"
            "  y = Transpose(m) perm=[0, 3, 1, 2] : float32[2, 3, 4, 5]\n"
            "  return y\n");
  EXPECT_EQ(LargestDifference(before, g.graph), 0);
}

TEST(SinkTransposeTest, LeavesOtherOrdersAndWhatOthersRead) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 2, 2});
  const auto a = g.Op("a", "Transpose", {x}, {2, 2, 2}, {{"perm", Ints{0, 2, 1}}});
  const auto b = g.Op("b", "Transpose", {x}, {2, 2, 2}, {{"perm", Ints{1, 0, 2}}});
  g.Output(g.Op("y", "Add", {a, b}, {2, 2, 2}));
  g.Output(g.Op("z", "Add", {a, x}, {2, 2, 2}));
  const std::string text = g.Text();
  EXPECT_EQ(g.After("sink_transpose"), text);

  GraphForTest read;
  const auto v = read.Input("x", {2, 3});
  const auto t = read.Op("t", "Transpose", {v}, {3, 2}, {{"perm", Ints{1, 0}}});
  read.Output(t);
  read.Output(read.Op("y", "Mul", {t, t}, {3, 2}));
  const std::string same = read.Text();
  EXPECT_EQ(read.After("sink_transpose"), same);
}

TEST(SinkTransposeTest, ReductionsNameTheAxesAsTheyWere) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 3, 4, 5});
  const auto t = g.Op("t", "Transpose", {x}, {2, 4, 5, 3}, {{"perm", kLast}});
  g.Output(
      g.Op("a", "ReduceMean", {t}, {2, 3}, {{"axes", Ints{1, -2}}, {"keepdims", std::int64_t{0}}}));
  g.Output(g.Op("b", "ReduceMax", {t}, {2, 1, 1, 3}, {{"axes", Ints{1, 2}}}));
  g.Output(
      g.Op("c", "ReduceSum", {t}, {4, 5, 3}, {{"axes", Ints{0}}, {"keepdims", std::int64_t{0}}}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("sink_transpose"),
            "  t = Transpose(x) perm=[0, 2, 3, 1] : float32[2, 4, 5, 3]\n"
            "  a = ReduceMean(x) axes=[2, 3] keepdims=0 : float32[2, 3]\n"
            "  b_node_sunk:0 = ReduceMax(x) axes=[2, 3] : float32[2, 3, 1, 1]\n"
            "  b = Transpose(b_node_sunk:0) perm=[0, 2, 3, 1] : float32[2, 1, 1, 3]\n"
            "  c = ReduceSum(t) axes=[0] keepdims=0 : float32[4, 5, 3]\n"
            "  return a, b, c\n");
  EXPECT_LT(LargestDifference(before, g.graph), 1e-6);
}

}  // namespace
}  // namespace poprt::passes
