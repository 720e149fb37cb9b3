#include "passes/conversion/cancel_transpose.hpp"

#include <gtest/gtest.h>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

const Ints kLast{0, 2, 3, 1};
const Ints kFirst{0, 3, 1, 2};
const Shape kShape{2, 3, 4, 5};
const Shape kShapeLast{2, 4, 5, 3};

/// Values whose channels are last, and what has them first again.
struct ChannelsLast : GraphForTest {
  ir::ValueId Last(std::string_view name, ir::ValueId x) {
    return Op(name, "Transpose", {x}, kShapeLast, {{"perm", kLast}});
  }
  ir::ValueId First(std::string_view name, ir::ValueId x) {
    return Op(name, "Transpose", {x}, kShape, {{"perm", kFirst}});
  }

  /// Text after the pass, which must change no result.
  std::string Cancelled() {
    const ir::Graph before = graph;
    std::string text = After("cancel_transpose");
    EXPECT_EQ(text, Text());
    EXPECT_EQ(LargestDifference(before, graph), 0);
    return text;
  }
  bool HasTransposesAfter() { return Cancelled().find("Transpose") != std::string::npos; }
};

TEST(CancelTransposeTest, BehindElementwiseOperatorsWithConstants) {
  ChannelsLast g;
  const auto x = g.Input("x", kShape);
  const auto bias = g.Constant("bias", {3}, {0.5, -0.25, 1});
  const auto slope = g.Constant("slope", {1, 1, 5, 1}, {1, 2, 3, 4, 5});
  const auto sum = g.Op("sum", "Add", {g.Last("t", x), bias}, kShapeLast);
  const auto product = g.Op("product", "Mul", {slope, sum}, kShapeLast);
  const auto one = g.Constant("one", {1}, {1});
  const auto clip = g.Op("clip", "Clip", {product, ir::kAbsent, one}, kShapeLast);
  g.Output(g.First("y", g.Op("leaky", "LeakyRelu", {clip}, kShapeLast, {{"alpha", 0.5F}})));
  EXPECT_EQ(g.Cancelled(),
            "  sum_node_1:0 = Add(x, bias_1) : float32[2, 3, 4, 5]\n"
            "  product_node_1:0 = Mul(slope_1, sum_node_1:0) : float32[2, 3, 4, 5]\n"
            "  clip_node_1:0 = Clip(product_node_1:0, -, one) : float32[2, 3, 4, 5]\n"
            "  leaky_node_1:0 = LeakyRelu(clip_node_1:0) alpha=0.5 : float32[2, 3, 4, 5]\n"
            "  return leaky_node_1:0\n");
  EXPECT_EQ(g.graph.output_names, std::vector<std::string>{"y"});
}

TEST(CancelTransposeTest, BehindQuantisationOfWholeTensors) {
  const auto graph_with = [](const Shape& points, std::int64_t axis) {
    ChannelsLast g;
    const std::size_t count = points.empty() ? 1 : 3;
    const auto scale = g.Constant("scale", points, std::vector<double>(count, 0.125));
    const auto point =
        g.Constant("point", {ElementType::kUint8, points}, std::vector<double>(count, 100));
    const auto t = g.Last("t", g.Input("x", kShape));
    const auto q = g.Op("q", "QuantizeLinear", {t, scale, point},
                        TensorType{ElementType::kUint8, kShapeLast}, {{"axis", axis}});
    const auto d = g.Op("d", "DequantizeLinear", {q, scale, point}, kShapeLast, {{"axis", axis}});
    g.Output(g.First("y", d));
    return g;
  };
  EXPECT_FALSE(graph_with({}, 1).HasTransposesAfter());
  ChannelsLast by_channel = graph_with({3}, 3);
  const std::string text = by_channel.Text();
  EXPECT_EQ(by_channel.Cancelled(), text);
}

TEST(CancelTransposeTest, BehindConcatAndPad) {
  for (const std::int64_t axis : {0, 3, -1, -2}) {
    SCOPED_TRACE(axis);
    ChannelsLast g;
    const auto a = g.Last("a", g.Input("x", kShape));
    const auto b = g.Last("b", g.Input("z", kShape));
    Shape joined = kShapeLast;
    joined[static_cast<std::size_t>((axis + 4) % 4)] *= 2;
    const auto concat = g.Op("concat", "Concat", {a, b}, joined, {{"axis", axis}});
    Shape padded = joined;
    padded[1] += 1;
    padded[2] += 2;
    padded[3] += 3;
    const auto pad = g.Op("pad", "Pad", {concat}, padded, {{"pads", Ints{0, 1, 0, 3, 0, 0, 2, 0}}});
    g.Output(g.Op("y", "Transpose", {pad}, {padded[0], padded[3], padded[1], padded[2]},
                  {{"perm", kFirst}}));
    EXPECT_FALSE(g.HasTransposesAfter()) << g.Text();
  }
}

/// Every sum is read by what has channels first and by the next sum, as in residual networks.
TEST(CancelTransposeTest, BehindManySumsEachOfWhichIsMadeOnce) {
  constexpr int kBlocks = 40;
  ChannelsLast g;
  const ir::ValueId x = g.Input("x", kShape);
  ir::ValueId sum = g.Op("r", "Relu", {g.Last("t", x)}, kShapeLast);
  for (int i = 0; i < kBlocks; ++i) {
    const ir::ValueId image = g.Op("n", "Softmax", {g.First("f", sum)}, kShape);
    sum = g.Op("r", "Relu", {g.Op("s", "Add", {sum, g.Last("t", image)}, kShapeLast)}, kShapeLast);
  }
  g.Output(g.First("y", sum));
  EXPECT_FALSE(g.HasTransposesAfter());
  EXPECT_EQ(g.graph.nodes.size(), 3 * kBlocks + 1);
}

TEST(CancelTransposeTest, OthersFindTheValuesBetween) {
  ChannelsLast g;
  const auto relu = g.Op("r", "Relu", {g.Last("t", g.Input("x", kShape))}, kShapeLast);
  g.Output(g.First("y", relu));
  g.Output(relu);
  EXPECT_EQ(g.Cancelled(),
            "  t = Transpose(x) perm=[0, 2, 3, 1] : float32[2, 4, 5, 3]\n"
            "  r = Relu(t) : float32[2, 4, 5, 3]\n"
            "  r_node_1:0 = Relu(x) : float32[2, 3, 4, 5]\n"
            "  return r_node_1:0, r\n");
}

/// A value is found by 2^n ways through n operators.
TEST(CancelTransposeTest, CountsOperatorsAndNotWaysThroughThem) {
  const auto is_left = [](int operators) {
    ChannelsLast g;
    ir::ValueId sum = g.Last("t", g.Input("x", kShape));
    for (int i = 0; i < operators; ++i) sum = g.Op("s", "Add", {sum, sum}, kShapeLast);
    g.Output(g.First("y", sum));
    return g.HasTransposesAfter();
  };
  EXPECT_FALSE(is_left(16));
  EXPECT_TRUE(is_left(17));
  EXPECT_TRUE(is_left(100));
}

/// A node that says nothing of its place runs where what it reads does, which may be before.
TEST(CancelTransposeTest, LeavesWhatRunsElsewhere) {
  const auto is_left = [](Attributes of_relu, Attributes of_last) {
    ChannelsLast g;
    const auto t = g.Last("t", g.Input("x", kShape));
    const auto relu = g.Op("r", "Relu", {t}, kShapeLast, std::move(of_relu));
    of_last.set("perm", kFirst);
    g.Output(g.Op("y", "Transpose", {relu}, kShape, std::move(of_last)));
    return g.HasTransposesAfter();
  };
  const Attributes second{{"__pipeline_stage", std::int64_t{1}}};
  EXPECT_FALSE(is_left({}, {}));
  EXPECT_FALSE(is_left(second, second));
  EXPECT_TRUE(is_left({}, second));
  EXPECT_TRUE(is_left(second, {}));
}

TEST(CancelTransposeTest, LeavesOrdersThatAreNotTakenBack) {
  const auto expect_left = [](auto build) {
    ChannelsLast g;
    g.Output(build(g, g.Last("t", g.Input("x", kShape))));
    const std::string text = g.Text();
    EXPECT_EQ(g.Cancelled(), text);
  };
  expect_left([](ChannelsLast& g, ir::ValueId t) {  // to another order
    const auto relu = g.Op("r", "Relu", {t}, kShapeLast);
    return g.Op("y", "Transpose", {relu}, {2, 5, 4, 3}, {{"perm", Ints{0, 2, 1, 3}}});
  });
  expect_left([](ChannelsLast& g, ir::ValueId t) {  // a value that was in no order
    return g.First("y", g.Op("s", "Add", {t, g.Input("z", kShapeLast)}, kShapeLast));
  });
  expect_left([](ChannelsLast& g, ir::ValueId t) {  // a constant that is a matrix
    const auto matrix = g.Constant("m", {5, 3}, std::vector<double>(15, 0.5));
    return g.First("y", g.Op("s", "Mul", {t, matrix}, kShapeLast));
  });
  expect_left([](ChannelsLast& g, ir::ValueId t) {  // not element-wise
    return g.First("y", g.Op("s", "Softmax", {t}, kShapeLast));
  });
  expect_left([](ChannelsLast& g, ir::ValueId t) {  // of axes that have names
    const auto pad = g.Op("p", "Pad", {t}, {2, 5, 5, 3},
                          {{"axes", Ints{1, 0, 2, 3}}, {"pads", Ints{1, 0, 0, 0, 0, 0, 0, 0}}});
    return g.Op("y", "Transpose", {pad}, {2, 3, 5, 5}, {{"perm", kFirst}});
  });
}

}  // namespace
}  // namespace poprt::passes
