#include "passes/lowering/lower_conv_transpose_to_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"
#include "passes/weights_for_test.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-4;

std::string Lowered(GraphForTest& g) {
  const ir::Graph before = g.graph;
  g.After("lower_conv_transpose_to_product");
  EXPECT_EQ(ir::Verify(g.graph), std::nullopt);
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  return g.Text();
}

TEST(LowerConvTransposeToProductTest, WeightsMayBeComputed) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 16, 3, 4});
  const auto w = g.Input("w", {16, 3, 2, 2});
  g.Output(g.Op("y", "ConvTranspose", {x, w, g.Input("b", {6})}, {2, 6, 5, 8},
                {{"group", std::int64_t{2}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 0, 0, 0}}}));
  EXPECT_EQ(Lowered(g),
            "  y_node_1:0 = Reshape(w) shape=[2, 8, 12] : float32[2, 8, 12]\n"
            "  y_node_2:0 = Transpose(y_node_1:0) perm=[0, 2, 1] : float32[2, 12, 8]\n"
            "  y_node_3:0 = Reshape(x) shape=[2, 2, 8, 12] : float32[2, 2, 8, 12]\n"
            "  y_node_4:0 = MatMul(y_node_2:0, y_node_3:0) : float32[2, 2, 12, 12]\n"
            "  y_node_5:0 = Reshape(y_node_4:0) shape=[2, 24, 12] : float32[2, 24, 12]\n"
            "  y_node_6:0 = Col2Im(y_node_5:0) block_shape=[2, 2] dilations=[1, 1] "
            "image_shape=[5, 8] pads=[1, 0, 0, 0] strides=[2, 2] : float32[2, 6, 5, 8]\n"
            "  y_node_7:0 = Reshape(b) shape=[6, 1, 1] : float32[6, 1, 1]\n"
            "  y = Add(y_node_6:0, y_node_7:0) : float32[2, 6, 5, 8]\n"
            "  return y\n");
}

/// Of one to three axes, with dilations, groups and padding of the result; weights are constant or
/// not.
TEST(LowerConvTransposeToProductTest, ComputesTheSameForAnyWindow) {
  constexpr unsigned kSeed = 7;
  SCOPED_TRACE(kSeed);
  std::minstd_rand random(kSeed);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<unsigned>(high - low + 1));
  };
  int lowered = 0;
  for (int round = 0; round < 120; ++round) {
    SCOPED_TRACE(round);
    const auto axes = static_cast<std::size_t>(draw(1, 3));
    const std::int64_t group = draw(1, 2);
    Shape extents;
    Ints kernel;
    Ints strides;
    Ints dilations;
    Ints extra;
    Ints pads;
    for (std::size_t i = 0; i < axes; ++i) {
      extents.push_back(draw(2, 5));
      kernel.push_back(draw(1, 4));
      strides.push_back(draw(1, 3));
      dilations.push_back(draw(1, 2));
      extra.push_back(draw(0, std::max(strides[i], dilations[i]) - 1));
    }
    for (std::size_t i = 0; i < 2 * axes; ++i) pads.push_back(draw(0, kernel[i % axes] - 1));
    Attributes attributes{{"dilations", dilations},
                          {"group", group},
                          {"output_padding", extra},
                          {"strides", strides}};
    const std::string padding = std::array{"NOTSET", "SAME_UPPER", "SAME_LOWER"}[draw(0, 2)];
    attributes.set("auto_pad", padding);
    if (padding == "NOTSET") attributes.set("pads", pads);
    Shape out;
    try {
      out = kernels::ResolveTransposedWindow(attributes, extents, kernel).output;
    } catch (const kernels::KernelError&) {
      continue;  // padded away
    }
    Shape x{draw(1, 2), group * draw(8, 10)};
    Shape w{x[1], draw(1, 9)};
    Shape y{x[0], w[1] * group};
    x.insert(x.end(), extents.begin(), extents.end());
    w.insert(w.end(), kernel.begin(), kernel.end());
    y.insert(y.end(), out.begin(), out.end());
    if (ElementCount(y) == 0) continue;
    GraphForTest g;
    const bool is_constant = draw(0, 1) == 0;
    std::vector<ir::ValueId> inputs{
        g.Input("x", x),
        is_constant ? g.Constant("w", w, WeightsForTest(ElementCount(w))) : g.Input("w", w)};
    if (draw(0, 1) == 0) inputs.push_back(g.Constant("b", {y[1]}, WeightsForTest(y[1])));
    g.Output(g.Op("y", "ConvTranspose", inputs, y, attributes));
    const std::string text = Lowered(g);
    if (text.find("ConvTranspose") != std::string::npos) continue;
    ++lowered;
    EXPECT_EQ(text.find("Transpose(") == std::string::npos, is_constant) << text;
  }
  EXPECT_GE(lowered, 30);
}

TEST(LowerConvTransposeToProductTest, LeavesOthers) {
  GraphForTest g;
  const auto x = g.Input("x", {1, 16, 3, 3});
  g.Output(g.Op("few_channels", "ConvTranspose",
                {g.Input("u", {1, 7, 3, 3}), g.Input("v", {7, 2, 2, 2})}, {1, 2, 4, 4}));
  g.Output(g.Op("few_pixels", "ConvTranspose",
                {g.Input("s", {1, 16, 1, 7}), g.Input("t", {16, 2, 2, 2})}, {1, 2, 2, 8}));
  g.Output(g.Op("groups", "ConvTranspose", {x, g.Input("w", {16, 9, 1, 1})}, {1, 36, 3, 3},
                {{"group", std::int64_t{4}}}));
  g.Output(g.Op("large", "ConvTranspose",
                {g.Input("p", {1, 8, 4096, 4096}), g.Input("q", {8, 1, 3, 3})},
                {1, 1, 4098, 4098}));
  g.Output(g.Op("huge", "ConvTranspose",
                {g.Input("r", {1, 8, 32768, 65536}), g.Input("o", {8, 1, 32768, 65536})},
                {1, 1, 65535, 131071}));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("lower_conv_transpose_to_product"), before);
  GraphForTest half(ElementType::kFloat16);
  half.Output(half.Op("y", "ConvTranspose",
                      {half.Input("x", {1, 16, 3, 3}), half.Input("w", {16, 2, 2, 2})},
                      {1, 2, 4, 4}));
  EXPECT_NE(half.After("lower_conv_transpose_to_product").find("ConvTranspose"), std::string::npos);
}

}  // namespace
}  // namespace poprt::passes
