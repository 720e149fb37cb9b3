#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

/// layer_norm_pattern, erf_gelu_pattern and gelu_pattern.
namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-5;

struct NormForm {
  bool square_is_pow = false;
  bool reciprocal = false;
  bool parameters = true;
};

GraphForTest Norm(const NormForm& form) {
  GraphForTest g;
  const auto x = g.Input("x", {3, 4});
  const Attributes last{{"axes", Ints{-1}}, {"keepdims", std::int64_t{1}}};
  const auto mean = g.Op("mean", "ReduceMean", {x}, {3, 1}, last);
  const auto d = g.Op("d", "Sub", {x, mean}, {3, 4});
  const auto square = form.square_is_pow ? g.Op("sq", "Pow", {d, g.Scalar(2)}, {3, 4})
                                         : g.Op("sq", "Mul", {d, d}, {3, 4});
  const auto var = g.Op("var", "ReduceMean", {square}, {3, 1}, last);
  const auto sqrt = g.Op("sqrt", "Sqrt", {g.Op("e", "Add", {g.Scalar(0.5), var}, {3, 1})}, {3, 1});
  auto y = form.reciprocal ? g.Op("q", "Mul", {g.Op("r", "Reciprocal", {sqrt}, {3, 1}), d}, {3, 4})
                           : g.Op("q", "Div", {d, sqrt}, {3, 4});
  if (form.parameters) {
    y = g.Op("s", "Mul", {g.Constant("gamma", {4}, {1, 2, 3, 4}), y}, {3, 4});
    y = g.Op("y", "Add", {y, g.Constant("beta", {1, 4}, {4, 3, 2, 1})}, {3, 4});
  }
  g.Output(y);
  return g;
}

TEST(LayerNormPatternTest, FindsEveryForm) {
  for (const NormForm& form :
       {NormForm{}, NormForm{.square_is_pow = true}, NormForm{.reciprocal = true}}) {
    GraphForTest g = Norm(form);
    const ir::Graph before = g.graph;
    EXPECT_EQ(g.After("layer_norm_pattern"),
              "  y = LayerNormalization(x, gamma, beta_1) axis=1 epsilon=0.5 : float32[3, 4]\n"
              "  return y\n");
    EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  }
}

TEST(LayerNormPatternTest, WorksWithoutParameters) {
  GraphForTest g = Norm({.parameters = false});
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("layer_norm_pattern"),
            "  q = LayerNormalization(x, q_node_ones) axis=1 epsilon=0.5 : float32[3, 4]\n"
            "  return q\n");
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
}

TEST(LayerNormPatternTest, LeavesPartsThatAreUsedElsewhere) {
  for (const std::size_t node : {3U, 5U}) {
    GraphForTest g = Norm({});
    g.Output(g.graph.nodes[node].outputs[0]);
    const std::string before = g.Text();
    EXPECT_EQ(g.After("layer_norm_pattern"), before);
  }
}

TEST(LayerNormPatternTest, LeavesOtherAxes) {
  GraphForTest g = Norm({.parameters = false});
  for (const std::size_t mean : {0U, 3U}) g.graph.nodes[mean].attributes.set("axes", Ints{0});
  const std::string before = g.Text();
  EXPECT_EQ(g.After("layer_norm_pattern"), before);
}

TEST(LayerNormPatternTest, LeavesDifferencesThatAreUsedElsewhere) {
  GraphForTest g = Norm({});
  g.Output(g.graph.nodes[1].outputs[0]);
  const ir::Graph before = g.graph;
  const std::string text = g.After("layer_norm_pattern");
  EXPECT_NE(text.find("y = Add(s, beta)"), std::string::npos) << text;
  EXPECT_NE(text.find("s = RMSNormalization(d, gamma) axis=1 epsilon=0.5"), std::string::npos);
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
}

/// x / sqrt(mean(x * x) + 0.5) * gamma; form 0 divides, 1 multiplies by 1 / root, 2 by Reciprocal.
GraphForTest RootNorm(int form) {
  GraphForTest g;
  const auto x = g.Input("x", {3, 4});
  const auto mean = g.Op("mean", "ReduceMean", {g.Op("sq", "Mul", {x, x}, {3, 4})}, {3, 1},
                         {{"axes", Ints{-1}}, {"keepdims", std::int64_t{1}}});
  const auto root = g.Op("root", "Sqrt", {g.Op("e", "Add", {mean, g.Scalar(0.5)}, {3, 1})}, {3, 1});
  const auto inverse = [&] {
    return form == 1 ? g.Op("r", "Div", {g.Scalar(1), root}, {3, 1})
                     : g.Op("r", "Reciprocal", {root}, {3, 1});
  };
  const auto q =
      form == 0 ? g.Op("q", "Div", {x, root}, {3, 4}) : g.Op("q", "Mul", {x, inverse()}, {3, 4});
  const auto y = g.Op("y", "Mul", {g.Constant("gamma", {4}, {1, 2, 3, 4}), q}, {3, 4});
  g.Output(g.Op("sum", "Add", {x, y}, {3, 4}));
  return g;
}

TEST(LayerNormPatternTest, FindsRootMeanSquares) {
  for (const int form : {0, 1, 2}) {
    GraphForTest g = RootNorm(form);
    const ir::Graph before = g.graph;
    EXPECT_EQ(g.After("layer_norm_pattern"),
              "  y = RMSNormalization(x, gamma) axis=1 epsilon=0.5 : float32[3, 4]\n"
              "  sum = Add(x, y) : float32[3, 4]\n"
              "  return sum\n");
    EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  }
}

TEST(LayerNormPatternTest, LeavesAnEpsilonThatRepeatsTheResult) {
  GraphForTest g;
  const auto x = g.Input("x", {3, 4});
  const auto mean = g.Op("mean", "ReduceMean", {g.Op("sq", "Mul", {x, x}, {3, 4})}, {3, 1},
                         {{"axes", Ints{-1}}, {"keepdims", std::int64_t{1}}});
  const auto epsilon = g.Constant("epsilon", {2, 1, 1}, {0.5, 0.5});
  const auto sum = g.Op("sum", "Add", {mean, epsilon}, {2, 3, 1});
  const auto root = g.Op("root", "Sqrt", {sum}, {2, 3, 1});
  g.Output(g.Op("y", "Div", {x, root}, {2, 3, 4}));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("layer_norm_pattern"), before);
}

TEST(LayerNormPatternTest, AddsNoBiasToRootMeanSquares) {
  GraphForTest g;
  const auto x = g.Input("x", {3, 4});
  const auto norm =
      g.Op("norm", "RMSNormalization", {x, g.Constant("gamma", {4}, {1, 2, 3, 4})}, {3, 4});
  g.Output(g.Op("y", "Add", {norm, g.Constant("beta", {4}, {1, 2, 3, 4})}, {3, 4}));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("layer_norm_pattern"), before);
}

/// The product of x, 0.5 and `gate` in one of the orders that exporters use.
ir::ValueId HalfTimes(GraphForTest& g, ir::ValueId x, ir::ValueId gate, int order) {
  const auto mul = [&](const char* name, ir::ValueId a, ir::ValueId b) {
    return g.Op(name, "Mul", {a, b}, {64});
  };
  if (order == 0) return mul("y", mul("h", x, g.Scalar(0.5)), gate);
  if (order == 1) return mul("y", mul("h", x, gate), g.Scalar(0.5));
  if (order == 2) return mul("y", x, mul("h", g.Scalar(0.5), gate));
  return g.Op("y", "Div", {mul("h", gate, x), g.Scalar(2)}, {64});
}

GraphForTest ErfGelu(int order, bool divide, double root) {
  GraphForTest g;
  const auto x = g.Input("x", {64});
  const auto scaled = divide ? g.Op("q", "Div", {x, g.Scalar(root)}, {64})
                             : g.Op("q", "Mul", {g.Scalar(1 / root), x}, {64});
  const auto erf = g.Op("erf", "Erf", {scaled}, {64});
  g.Output(HalfTimes(g, x, g.Op("gate", "Add", {erf, g.Scalar(1)}, {64}), order));
  return g;
}

TEST(ErfGeluPatternTest, FindsEveryOrder) {
  for (int order = 0; order < 4; ++order) {
    for (const bool divide : {false, true}) {
      GraphForTest g = ErfGelu(order, divide, std::numbers::sqrt2);
      const ir::Graph before = g.graph;
      EXPECT_EQ(g.After("erf_gelu_pattern"),
                "  y = Gelu(x) approximate=\"none\" : float32[64]\n  return y\n");
      EXPECT_LE(LargestDifference(before, g.graph), kRounding);
    }
  }
}

TEST(ErfGeluPatternTest, LeavesOtherConstantsAndUses) {
  GraphForTest other = ErfGelu(0, true, 1.5);
  std::string before = other.Text();
  EXPECT_EQ(other.After("erf_gelu_pattern"), before);
  for (std::size_t node = 0; node < 4; ++node) {
    GraphForTest g = ErfGelu(0, true, std::numbers::sqrt2);
    g.Output(g.graph.nodes[node].outputs[0]);
    before = g.Text();
    EXPECT_EQ(g.After("erf_gelu_pattern"), before);
  }
}

enum class Cube { kPow, kMul, kFactored };

GraphForTest TanhGelu(int order, Cube cube, double cubic = 0.044715) {
  GraphForTest g;
  const auto x = g.Input("x", {64});
  const auto op = [&](const char* name, const char* type, ir::ValueId a, ir::ValueId b) {
    return g.Op(name, type, {a, b}, {64});
  };
  const auto scale = g.Scalar(std::sqrt(2 / std::numbers::pi));
  ir::ValueId argument = 0;
  if (cube == Cube::kFactored) {
    const auto term = op("t", "Mul", op("cx", "Mul", x, g.Scalar(cubic)), x);
    argument = op("u", "Mul", op("sx", "Mul", x, scale), op("p", "Add", g.Scalar(1), term));
  } else {
    const auto x3 = cube == Cube::kPow ? op("x3", "Pow", x, g.Scalar(3))
                                       : op("x3", "Mul", op("x2", "Mul", x, x), x);
    const auto sum = op("p", "Add", x, op("t", "Mul", g.Scalar(cubic), x3));
    argument = op("u", "Mul", sum, scale);
  }
  const auto tanh = g.Op("tanh", "Tanh", {argument}, {64});
  g.Output(HalfTimes(g, x, op("gate", "Add", g.Scalar(1), tanh), order));
  return g;
}

TEST(GeluPatternTest, FindsEveryForm) {
  for (int order = 0; order < 4; ++order) {
    for (const Cube cube : {Cube::kPow, Cube::kMul, Cube::kFactored}) {
      GraphForTest g = TanhGelu(order, cube);
      const ir::Graph before = g.graph;
      EXPECT_EQ(g.After("gelu_pattern"),
                "  y = Gelu(x) approximate=\"tanh\" : float32[64]\n  return y\n");
      EXPECT_LE(LargestDifference(before, g.graph), kRounding);
    }
  }
}

TEST(GeluPatternTest, LeavesOtherConstantsAndUses) {
  GraphForTest other = TanhGelu(0, Cube::kPow, 0.05);
  std::string before = other.Text();
  EXPECT_EQ(other.After("gelu_pattern"), before);
  GraphForTest used = TanhGelu(0, Cube::kPow);
  used.Output(used.graph.nodes[3].outputs[0]);
  before = used.Text();
  EXPECT_EQ(used.After("gelu_pattern"), before);
}

}  // namespace
}  // namespace poprt::passes
