#include "passes/lowering/fuse_elementwise_chain.hpp"

#include <gtest/gtest.h>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-5;

std::string Fused(GraphForTest& g) {
  const ir::Graph before = g.graph;
  std::string text = g.After("fuse_elementwise_chain");
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  return text;
}

TEST(FuseElementwiseChainTest, MakesATreeOneNode) {
  GraphForTest g;
  const Shape shape{2, 3, 4};
  const auto x = g.Input("x", shape);
  const auto scale = g.Constant("scale", {3, 1}, {1, 2, 3});
  const auto s = g.Op("s", "Sigmoid", {x}, shape);
  const auto m = g.Op("m", "Mul", {x, s}, shape);
  const auto k = g.Op("k", "Mul", {m, scale}, shape);
  g.Output(g.Op("y", "Sub", {g.Scalar(0.5), k}, shape));
  EXPECT_EQ(Fused(g),
            "  y = FusedElementwise(x, scale) constants=[0.5] functions=[\"sigmoid\", \"mul\", "
            "\"mul\", \"sub\"] operands=[0, 0, 3, 4, 1, 2, 5] : float32[2, 3, 4]\n  return y\n");
}

TEST(FuseElementwiseChainTest, KnowsTheOperators) {
  const Shape shape{5, 7};
  const Attributes none;
  const std::vector<std::pair<std::string, Attributes>> unary = {
      {"Abs", none},
      {"Erf", none},
      {"Exp", none},
      {"HardSwish", none},
      {"Neg", none},
      {"Relu", none},
      {"Sigmoid", none},
      {"Tanh", none},
      {"Gelu", none},
      {"Swish", none},
      {"Swish", {{"alpha", 1.7F}}},
      {"LeakyRelu", {{"alpha", 0.3F}}},
      {"Gelu", {{"approximate", std::string("tanh")}}},
      {"HardSigmoid", {{"alpha", 0.4F}, {"beta", 0.1F}}}};
  for (const auto& [op, attributes] : unary) {
    SCOPED_TRACE(op);
    GraphForTest g;
    const auto a = g.Op("a", op, {g.Input("x", shape)}, shape, attributes);
    g.Output(g.Op("y", "Add", {a, g.Scalar(1)}, shape));
    EXPECT_NE(Fused(g).find("y = FusedElementwise(x)"), std::string::npos);
  }
  for (const char* op : {"Add", "Sub", "Mul", "Max", "Min", "PRelu"}) {
    SCOPED_TRACE(op);
    GraphForTest g;
    const auto a = g.Op("a", op, {g.Input("x", shape), g.Input("b", {7})}, shape);
    g.Output(g.Op("y", "Abs", {a}, shape));
    EXPECT_NE(Fused(g).find("y = FusedElementwise(x, b)"), std::string::npos);
  }
  GraphForTest g;
  const auto a = g.Op("a", "Abs", {g.Input("x", shape)}, shape);
  const auto shifted = g.Op("shifted", "Add", {a, g.Scalar(0.5)}, shape);
  const auto root = g.Op("root", "Sqrt", {shifted}, shape);
  const auto inverse = g.Op("inverse", "Reciprocal", {root}, shape);
  const auto divided = g.Op("divided", "Div", {inverse, shifted}, shape);
  const auto cube = g.Op("cube", "Pow", {divided, g.Scalar(3)}, shape);
  g.Output(g.Op("y", "Clip", {cube, g.Scalar(0.25), g.Scalar(1)}, shape));
  EXPECT_NE(Fused(g).find("y = FusedElementwise(x)"), std::string::npos);
}

TEST(FuseElementwiseChainTest, TakesOperatorsAlone) {
  GraphForTest g;
  const auto row = g.Op("row", "Neg", {g.Input("r", {3})}, {3});  // would be computed twice
  g.Output(g.Op("y", "Mul", {g.Input("x", {2, 3}), row}, {2, 3}));
  g.Output(g.Op("z", "Mul", {g.Input("u", {2, 3}), g.Scalar(2)}, {2, 3}));
  EXPECT_EQ(Fused(g),
            "  row = FusedElementwise(r) functions=[\"neg\"] operands=[0] : float32[3]\n"
            "  y = FusedElementwise(x, row) functions=[\"mul\"] operands=[0, 1] : float32[2, 3]\n"
            "  z = FusedElementwise(u) constants=[2] functions=[\"mul\"] operands=[0, 1] : "
            "float32[2, 3]\n  return y, z\n");
}

TEST(FuseElementwiseChainTest, KeepsWhatOthersRead) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 3});
  const auto shared = g.Op("shared", "Add", {x, g.Input("u", {2, 3})}, {2, 3});
  const auto seen = g.Op("seen", "Abs", {shared}, {2, 3});
  g.Output(seen);
  g.Output(g.Op("sum", "ReduceSum", {shared}, {2, 1}, {{"axes", Ints{1}}}));
  g.Output(g.Op("y", "Relu", {seen}, {2, 3}));
  EXPECT_EQ(
      Fused(g),
      "  shared = FusedElementwise(x, u) functions=[\"add\"] operands=[0, 1] : float32[2, 3]\n"
      "  seen = FusedElementwise(shared) functions=[\"abs\"] operands=[0] : float32[2, 3]\n"
      "  sum = ReduceSum(shared) axes=[1] : float32[2, 1]\n"
      "  y = FusedElementwise(seen) functions=[\"relu\"] operands=[0] : float32[2, 3]\n"
      "  return seen, sum, y\n");
}

TEST(FuseElementwiseChainTest, ComputesBetweenBytes) {
  GraphForTest g;
  const Shape shape{2, 300};
  const TensorType bytes{ElementType::kUint8, shape};
  const auto point = g.Constant("p", TensorType{ElementType::kUint8, {}}, {100});
  const auto d = g.Op("d", "DequantizeLinear", {g.Input("x", bytes), g.Scalar(0.25), point}, shape);
  const auto h = g.Op("h", "HardSwish", {d}, shape);
  g.Output(g.Op("y", "QuantizeLinear", {h, g.Scalar(0.5), point}, bytes));
  g.Output(g.Op("z", "Neg", {d}, shape));
  g.Output(g.Op("r", "ReduceMax", {d}, Shape{1, 1}));
  EXPECT_EQ(Fused(g),
            "  d = DequantizeLinear(x, c, p) : float32[2, 300]\n"
            "  y = FusedElementwise(x) constants=[100, 0.25, 0.5] functions=[\"sub\", \"mul\", "
            "\"hardswish\", \"div\"] operands=[0, 1, 4, 2, 5, 6, 3] point=100 : uint8[2, 300]\n"
            "  z = FusedElementwise(x) constants=[100, 0.25] functions=[\"sub\", \"mul\", "
            "\"neg\"] operands=[0, 1, 3, 2, 4] : float32[2, 300]\n"
            "  r = ReduceMax(d) : float32[1, 1]\n"
            "  return y, z, r\n");
}

TEST(FuseElementwiseChainTest, LeavesQuantisationAloneAndInOtherForms) {
  GraphForTest g;
  const Shape shape{2, 3};
  const TensorType bytes{ElementType::kInt8, shape};
  const auto x = g.Input("x", bytes);
  g.Output(g.Op("d", "DequantizeLinear", {x, g.Scalar(0.25)}, shape));
  g.Output(g.Op("q", "QuantizeLinear", {g.Input("f", shape), g.Scalar(0.25)}, bytes));
  const auto scales = g.Constant("s", Shape{3}, {0.25, 0.5, 1});
  const auto columns = g.Op("e", "DequantizeLinear", {x, scales}, shape);
  g.Output(g.Op("y", "Neg", {columns}, shape));
  const std::string text = Fused(g);
  EXPECT_NE(text.find("d = DequantizeLinear(x, c)"), std::string::npos) << text;
  EXPECT_NE(text.find("q = QuantizeLinear(f, c_1)"), std::string::npos) << text;
  EXPECT_NE(text.find("y = FusedElementwise(e)"), std::string::npos) << text;
}

TEST(FuseElementwiseChainTest, LeavesOperatorsOfTooManyInputs) {
  GraphForTest g;
  std::vector<ir::ValueId> inputs;
  inputs.reserve(40);
  for (int i = 0; i < 40; ++i) inputs.push_back(g.Input("x" + std::to_string(i), {3}));
  g.Output(g.Op("m", "Max", inputs, {3}));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("fuse_elementwise_chain"), before);
}

TEST(FuseElementwiseChainTest, CutsLongChains) {
  GraphForTest g;
  ir::ValueId x = g.Input("x", {3});
  for (int i = 0; i < 100; ++i) x = g.Op("v", i % 2 == 0 ? "Neg" : "Abs", {x}, {3});
  g.Output(x);
  Fused(g);
  EXPECT_EQ(g.graph.nodes.size(), 4U);
}

}  // namespace
}  // namespace poprt::passes
