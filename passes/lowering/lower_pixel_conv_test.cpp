#include "passes/lowering/lower_pixel_conv.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-5;

std::vector<double> Ramp(std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<double>(i % 13) / 100 - 0.05);
  return values;
}

TEST(LowerPixelConvTest, MultipliesRows) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 64, 1, 1});
  const auto w = g.Constant("w", {256, 64, 1, 1}, Ramp(std::int64_t{256} * 64));
  const auto bias = g.Constant("bias", {256}, Ramp(256));
  g.Output(g.Op("y", "FusedConv", {x, w, bias}, {2, 256, 1, 1},
                {{"activation", "relu"}, {"group", std::int64_t{1}}, {"pads", Ints{0, 0, 0, 0}}}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("lower_pixel_conv"),
            "  y_node_row:0 = Reshape(x) shape=[2, 64] : float32[2, 64]\n"
            "  y_node_1:0 = FusedMatMul(y_node_row:0, w_1, bias) activation=\"relu\" trans_b=1 : "
            "float32[2, 256]\n"
            "  y = Reshape(y_node_1:0) shape=[2, 256, 1, 1] : float32[2, 256, 1, 1]\n"
            "  return y\n");
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
}

TEST(LowerPixelConvTest, LeavesOthers) {
  GraphForTest g;
  const auto conv = [&](const char* name, Shape x, Shape w, Shape y, bool has_residual = false,
                        Attributes attributes = {}) {
    std::vector<ir::ValueId> inputs{g.Input(name, std::move(x))};
    const std::int64_t count = ElementCount(w);
    inputs.push_back(g.Constant("w", std::move(w), Ramp(count)));
    if (has_residual) inputs.insert(inputs.end(), {ir::kAbsent, g.Input("r", y)});
    const std::int64_t group = g.graph.type(inputs[0]).shape[1] / g.graph.type(inputs[1]).shape[1];
    attributes.set("group", group);
    g.Output(g.Op("y", "FusedConv", std::move(inputs), std::move(y), std::move(attributes)));
  };
  conv("few", {1, 64, 1, 1}, {255, 64, 1, 1}, {1, 255, 1, 1});
  conv("pixels", {1, 64, 1, 2}, {256, 64, 1, 1}, {1, 256, 1, 2});
  conv("windows", {1, 64, 2, 2}, {256, 64, 2, 2}, {1, 256, 1, 1});
  conv("groups", {1, 256, 1, 1}, {256, 128, 1, 1}, {1, 256, 1, 1});
  conv("sum", {1, 64, 1, 1}, {256, 64, 1, 1}, {1, 256, 1, 1}, true);
  conv("padding", {1, 64, 1, 1}, {256, 64, 1, 1}, {1, 256, 1, 1}, false,
       {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{3, 3}}});
  const std::string before = g.Text();
  EXPECT_EQ(g.After("lower_pixel_conv"), before);
}

}  // namespace
}  // namespace poprt::passes
