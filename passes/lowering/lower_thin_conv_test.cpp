#include "passes/lowering/lower_thin_conv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"
#include "passes/weights_for_test.hpp"

namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-5;

std::string Lowered(GraphForTest& g) {
  const ir::Graph before = g.graph;
  for (const char* pass : {"lower_thin_conv", "lower_to_fused", "fuse_activation_into_fused"}) {
    g.After(pass);
  }
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  return g.Text();
}

TEST(LowerThinConvTest, ComputesNeighboursAsChannels) {
  GraphForTest g;
  const auto x = g.Input("x", {1, 2, 8, 10});
  const auto w = g.Constant("w", {4, 2, 3, 3}, WeightsForTest(72));
  const auto y = g.Op("y", "Conv", {x, w, g.Constant("b", {4}, WeightsForTest(4))}, {1, 4, 8, 10},
                      {{"pads", Ints{1, 1, 1, 1}}});
  g.Output(g.Op("s", "Sigmoid", {y}, {1, 4, 8, 10}));
  EXPECT_EQ(Lowered(g),
            "  s_node_1:0 = FusedConv(x, y_node_neighbours, y_node_bias) activation=\"sigmoid\" "
            "dilations=[1, 1] group=1 kernel_shape=[4, 4] pads=[1, 1, 1, 1] strides=[2, 2] : "
            "float32[1, 16, 4, 5]\n"
            "  s = SubpixelShuffle(s_node_1:0) blocks=[2, 2] crops=[0, 0] phases_first=1 : "
            "float32[1, 4, 8, 10]\n"
            "  return s\n");
}

TEST(LowerThinConvTest, ComputesTheSameForAnyWindow) {
  std::minstd_rand random(5);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<unsigned>(high - low + 1));
  };
  int lowered = 0;
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const Ints kernel{draw(1, 6), draw(1, 6)};
    const Ints pads{draw(0, 2), draw(0, 2), draw(0, 2), draw(0, 2)};
    const Ints strides{draw(1, 2), draw(1, 3)};
    const Shape x{draw(1, 2), draw(1, 3), kernel[0] + draw(0, 9), kernel[1] + draw(0, 29)};
    const Shape y{x[0], draw(1, 9), (x[2] + pads[0] + pads[2] - kernel[0]) / strides[0] + 1,
                  (x[3] + pads[1] + pads[3] - kernel[1]) / strides[1] + 1};
    const Shape w{y[1], x[1], kernel[0], kernel[1]};
    GraphForTest g;
    std::vector<ir::ValueId> inputs{g.Input("x", x),
                                    g.Constant("w", w, WeightsForTest(ElementCount(w)))};
    if (draw(0, 1) == 1) inputs.push_back(g.Constant("b", {y[1]}, WeightsForTest(y[1])));
    g.Output(g.Op("y", "Conv", inputs, y, {{"pads", pads}, {"strides", strides}}));
    if (Lowered(g).find("SubpixelShuffle") != std::string::npos) ++lowered;
  }
  EXPECT_GT(lowered, 15);
}

/// Half of a block of channels, whose filters grow by a column in twenty.
TEST(LowerThinConvTest, TakesWideFiltersOfEightChannels) {
  GraphForTest g;
  const auto x = g.Input("x", {1, 8, 16, 60});
  const auto w = g.Constant("w", {8, 8, 3, 19}, WeightsForTest(8 * 8 * 3 * 19));
  g.Output(g.Op("y", "Conv", {x, w}, {1, 8, 14, 42}, {}));
  EXPECT_THAT(Lowered(g), testing::HasSubstr("kernel_shape=[3, 20] pads=[0, 0, 0, 0] "
                                             "strides=[1, 2] : float32[1, 16, 14, 21]"));
}

TEST(LowerThinConvTest, TakesFiltersOfSignals) {
  GraphForTest g;
  const auto x = g.Input("x", {1, 1, 1, 302});
  const auto w = g.Constant("w", {1, 1, 1, 40}, WeightsForTest(40));
  g.Output(g.Op("y", "Conv", {x, w}, {1, 1, 1, 132}, {{"strides", Ints{1, 2}}}));
  EXPECT_THAT(Lowered(g), testing::HasSubstr("kernel_shape=[1, 68] pads=[0, 0, 0, 6] "
                                             "strides=[1, 30] : float32[1, 15, 1, 9]"));
}

TEST(LowerThinConvTest, LeavesWhatDoesNotPay) {
  GraphForTest g;
  const auto conv = [&](std::string_view name, const Shape& w, const Shape& y,
                        const Attributes& attributes) {
    g.Output(g.Op(name, "Conv",
                  {g.Input("x", {1, 4, 8, 8}), g.Constant("w", w, WeightsForTest(ElementCount(w)))},
                  y, attributes));
  };
  conv("pointwise", {3, 4, 1, 1}, {1, 3, 8, 8}, {});
  conv("many", {9, 4, 3, 3}, {1, 9, 6, 6}, {});
  conv("strided", {3, 4, 3, 3}, {1, 3, 3, 3}, {{"strides", Ints{2, 2}}});
  conv("dilated", {3, 4, 3, 3}, {1, 3, 4, 4}, {{"dilations", Ints{2, 2}}});
  conv("grouped", {2, 2, 3, 3}, {1, 2, 6, 6}, {{"group", std::int64_t{2}}});
  const std::string before = g.Text();
  EXPECT_EQ(g.After("lower_thin_conv"), before);
}

}  // namespace
}  // namespace poprt::passes
