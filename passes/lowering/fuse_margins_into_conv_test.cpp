#include "passes/lowering/fuse_margins_into_conv.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-6;

std::vector<double> Ramp(std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), -static_cast<double>(count) / 2);
  return values;
}

TEST(FuseMarginsIntoConvTest, PadsInsideTheConvolution) {
  GraphForTest g;
  const auto x = g.Input("x", {1, 2, 5, 6});
  const auto p = g.Op("p", "Pad", {x, g.Scalar(0)}, {1, 2, 6, 9},
                      {{"axes", Ints{-1, 2}}, {"pads", Ints{2, 0, 1, 1}}});
  const auto w = g.Constant("w", {3, 2, 3, 3}, Ramp(54));
  g.Output(g.Op("y", "Conv", {p, w}, {1, 3, 3, 4},
                {{"pads", Ints{1, 0, 0, 0}}, {"strides", Ints{2, 2}}}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("fuse_margins_into_conv"),
            "  y = Conv(x, w) pads=[1, 2, 1, 1] strides=[2, 2] : float32[1, 3, 3, 4]\n"
            "  return y\n");
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
}

TEST(FuseMarginsIntoConvTest, ComputesOnlyWhatIsTaken) {
  GraphForTest g;
  const auto x = g.Input("x", {1, 2, 9});
  const auto w = g.Constant("w", {3, 2, 3}, Ramp(18));
  const auto y =
      g.Op("y", "Conv", {x, w}, {1, 3, 13}, {{"dilations", Ints{2}}, {"pads", Ints{4, 4}}});
  g.Output(g.Op("s", "Slice", {y}, {1, 3, 8},
                {{"axes", Ints{2}}, {"ends", Ints{-4}}, {"starts", Ints{1}}, {"steps", Ints{1}}}));
  const auto z =
      g.Op("z", "Conv", {x, w}, {1, 3, 6},
           {{"auto_pad", std::string("NOTSET")}, {"pads", Ints{2, 3}}, {"strides", Ints{2}}});
  g.Output(g.Op("t", "Slice", {z}, {1, 3, 4},
                {{"axes", Ints{2}}, {"ends", Ints{5}}, {"starts", Ints{1}}}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("fuse_margins_into_conv"),
            "  s = Conv(x, w) dilations=[2] pads=[3, 0] : float32[1, 3, 8]\n"
            "  t = Conv(x, w) pads=[0, 1] strides=[2] : float32[1, 3, 4]\n"
            "  return s, t\n");
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
}

TEST(FuseMarginsIntoConvTest, LeavesOtherPadsAndSlices) {
  GraphForTest g;
  const auto x = g.Input("x", {1, 2, 9});
  const auto w = g.Constant("w", {3, 2, 3}, Ramp(18));
  const auto conv = [&](std::string_view name, ir::ValueId from) {
    g.Output(g.Op(name, "Conv", {from, w}, {1, 3, 8}));
  };
  conv("a", g.Op("ones", "Pad", {x, g.Scalar(1)}, {1, 2, 10}, {{"pads", Ints{0, 0, 0, 0, 0, 1}}}));
  conv("b", g.Op("edge", "Pad", {x}, {1, 2, 10},
                 {{"mode", std::string("edge")}, {"pads", Ints{0, 0, 0, 0, 0, 1}}}));
  conv("c", g.Op("cut", "Pad", {x}, {1, 2, 10}, {{"pads", Ints{0, 0, -1, 0, 0, 2}}}));
  conv("d", g.Op("channel", "Pad", {g.Input("one", {1, 1, 10})}, {1, 2, 10},
                 {{"pads", Ints{0, 1, 0, 0, 0, 0}}}));
  const auto slice = [&](std::string_view name, Shape shape, Attributes attributes) {
    const auto y = g.Op(std::string(name) + "y", "Conv", {x, w}, {1, 3, 9}, {{"pads", Ints{1, 1}}});
    g.Output(g.Op(name, "Slice", {y}, std::move(shape), std::move(attributes)));
  };
  slice("inner", {1, 3, 5}, {{"axes", Ints{2}}, {"ends", Ints{7}}, {"starts", Ints{2}}});
  slice("steps", {1, 3, 4},
        {{"axes", Ints{2}}, {"ends", Ints{9}}, {"starts", Ints{1}}, {"steps", Ints{2}}});
  slice("channels", {1, 2, 9}, {{"axes", Ints{1}}, {"ends", Ints{2}}, {"starts", Ints{0}}});
  const auto used = g.Op("used", "Conv", {x, w}, {1, 3, 9}, {{"pads", Ints{1, 1}}});
  g.Output(g.Op("first", "Slice", {used}, {1, 3, 8},
                {{"axes", Ints{2}}, {"ends", Ints{8}}, {"starts", Ints{0}}}));
  g.Output(used);
  const std::string before = g.Text();
  EXPECT_EQ(g.After("fuse_margins_into_conv"), before);
}

}  // namespace
}  // namespace poprt::passes
