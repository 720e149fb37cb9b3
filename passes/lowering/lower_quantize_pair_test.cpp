#include "passes/lowering/lower_quantize_pair.hpp"

#include <gtest/gtest.h>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

/// DequantizeLinear(QuantizeLinear(x)) with a zero point of its own for each.
struct PairForTest : GraphForTest {
  PairForTest(ElementType integers, double scale, double point, double other_point) {
    const auto x = Input("x", {2, 300});
    const TensorType point_type{integers, {}};
    const auto s = Constant("s", Shape{}, {scale});
    const auto q = Op("q", "QuantizeLinear", {x, s, Constant("p", point_type, {point})},
                      TensorType{integers, {2, 300}});
    Output(Op("y", "DequantizeLinear", {q, s, Constant("r", point_type, {other_point})}, {2, 300}));
  }
};

TEST(LowerQuantizePairTest, IsWhatThePairDoes) {
  PairForTest g(ElementType::kUint8, 0.5, 3, 3);
  EXPECT_EQ(g.After("lower_quantize_pair"),
            "  y_node_steps:0 = Div(x, y_node_scale) : float32[2, 300]\n"
            "  y_node_clipped:0 = Clip(y_node_steps:0, y_node_low, y_node_high) : float32[2, 300]\n"
            "  y_node_rounded:0 = Round(y_node_clipped:0) : float32[2, 300]\n"
            "  y = Mul(y_node_rounded:0, y_node_back) : float32[2, 300]\n"
            "  return y\n");
}

TEST(LowerQuantizePairTest, ResultsAreTheSame) {
  // Some are clipped at both ends, and with the scale of a half many are halfway.
  for (const double scale : {0.5, 0.004, 0.0117}) {
    for (const ElementType integers :
         {ElementType::kUint8, ElementType::kInt8, ElementType::kUint16, ElementType::kInt4}) {
      PairForTest g(integers, scale, 3, 3);
      const ir::Graph before = g.graph;
      g.After("lower_quantize_pair");
      EXPECT_EQ(LargestDifference(before, g.graph), 0)
          << scale << ' ' << static_cast<int>(integers);
    }
  }
}

TEST(LowerQuantizePairTest, LeavesWhatIsReadAsIntegers) {
  PairForTest g(ElementType::kUint8, 0.5, 3, 3);
  const TensorType bytes{ElementType::kUint8, {2, 300}};
  g.Output(g.Op("m", "Identity", {g.graph.nodes[0].outputs[0]}, bytes));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("lower_quantize_pair"), before);
}

TEST(LowerQuantizePairTest, LeavesWhatIsNoPair) {
  PairForTest other_point(ElementType::kUint8, 0.5, 3, 4);
  std::string before = other_point.Text();
  EXPECT_EQ(other_point.After("lower_quantize_pair"), before);
  PairForTest no_integers(ElementType::kFloat8E4M3FN, 0.5, 0, 0);
  before = no_integers.Text();
  EXPECT_EQ(no_integers.After("lower_quantize_pair"), before);
  GraphForTest rows;  // a scale for each row
  const auto x = rows.Input("x", {2, 3});
  const auto s = rows.Constant("s", Shape{2}, {0.5, 0.25});
  const Attributes axis{{"axis", std::int64_t{0}}};
  const TensorType bytes{ElementType::kUint8, {2, 3}};
  const auto q = rows.Op("q", "QuantizeLinear", {x, s}, bytes, axis);
  rows.Output(rows.Op("y", "DequantizeLinear", {q, s}, {2, 3}, axis));
  before = rows.Text();
  EXPECT_EQ(rows.After("lower_quantize_pair"), before);
}

}  // namespace
}  // namespace poprt::passes
