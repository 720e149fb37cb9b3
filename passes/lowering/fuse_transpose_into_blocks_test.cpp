#include "passes/lowering/fuse_transpose_into_blocks.hpp"

#include <gtest/gtest.h>

#include <string>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

const Attributes kTwenty = {{"channels", std::int64_t{20}}};

TEST(FuseTransposeIntoBlocksTest, WritesChannelsLast) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 2, 3, 4, 16});
  const auto planes = g.Op("planes", "UnblockChannels", {x}, {2, 20, 3, 4}, kTwenty);
  g.Output(g.Op("last", "Transpose", {planes}, {2, 3, 4, 20}, {{"perm", Ints{0, 2, 3, 1}}}));
  const auto rows = g.Op("rows", "Reshape", {planes}, {2, 20, 12}, {{"shape", Ints{2, 20, 12}}});
  g.Output(g.Op("tokens", "Transpose", {rows}, {2, 12, 20}, {{"perm", Ints{0, 2, 1}}}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("fuse_transpose_into_blocks"),
            "  last_node_unblocked:0 = UnblockChannels(x) channels=20 channels_last=1 : "
            "float32[2, 3, 4, 20]\n"
            "  last = Reshape(last_node_unblocked:0) shape=[2, 3, 4, 20] : float32[2, 3, 4, 20]\n"
            "  tokens_node_unblocked:0 = UnblockChannels(x) channels=20 channels_last=1 : "
            "float32[2, 3, 4, 20]\n"
            "  tokens = Reshape(tokens_node_unblocked:0) shape=[2, 12, 20] : float32[2, 12, 20]\n"
            "  return last, tokens\n");
  EXPECT_EQ(LargestDifference(before, g.graph), 0);
}

TEST(FuseTransposeIntoBlocksTest, ReadsChannelsLast) {
  GraphForTest g;
  const auto tokens = g.Input("tokens", {2, 12, 20});
  const auto rows = g.Op("rows", "Transpose", {tokens}, {2, 20, 12}, {{"perm", Ints{0, 2, 1}}});
  const auto planes =
      g.Op("planes", "Reshape", {rows}, {2, 20, 3, 4}, {{"shape", Ints{2, 20, 3, 4}}});
  g.Output(g.Op("y", "BlockChannels", {planes}, {2, 2, 3, 4, 16}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("fuse_transpose_into_blocks"),
            "  y_node_pixels:0 = Reshape(tokens) shape=[2, 3, 4, 20] : float32[2, 3, 4, 20]\n"
            "  y = BlockChannels(y_node_pixels:0) channels_last=1 : float32[2, 2, 3, 4, 16]\n"
            "  return y\n");
  EXPECT_EQ(LargestDifference(before, g.graph), 0);
}

/// [20, 24, k, k] with values of all kinds.
std::vector<double> Ramp(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i * 7 % 11) / 8 - 0.5;
  return values;
}

struct TurnedConv {
  explicit TurnedConv(std::int64_t kernel, bool residual) {
    const auto taps = static_cast<std::size_t>(kernel * kernel);
    const auto x = g.Input("x", {2, 2, 3, 4, 16});
    std::vector<ir::ValueId> inputs{x, g.Constant("w", {20, 24, kernel, kernel}, Ramp(480 * taps))};
    if (residual) inputs.insert(inputs.end(), {ir::kAbsent, g.Input("r", {2, 2, 3, 4, 16})});
    const std::int64_t pad = kernel / 2;
    const auto conv = g.Op("conv", "BlockedConv", inputs, {2, 2, 3, 4, 16},
                           {{"in_channels", std::int64_t{24}},
                            {"kernel_shape", Ints{kernel, kernel}},
                            {"out_channels", std::int64_t{20}},
                            {"pads", Ints{pad, pad, pad, pad}}});
    const auto planes = g.Op("planes", "UnblockChannels", {conv}, {2, 20, 3, 4}, kTwenty);
    g.Output(g.Op("last", "Transpose", {planes}, {2, 3, 4, 20}, {{"perm", Ints{0, 2, 3, 1}}}));
  }
  GraphForTest g;
};

TEST(FuseTransposeIntoBlocksTest, ConvolutionsOfSinglePixelsWriteChannelsLast) {
  TurnedConv turned(1, false);
  const ir::Graph before = turned.g.graph;
  EXPECT_EQ(turned.g.After("fuse_transpose_into_blocks"),
            "  last_node_unblocked:0 = BlockedConv(x, w) channels_last=1 in_channels=24 "
            "kernel_shape=[1, 1] out_channels=20 pads=[0, 0, 0, 0] : float32[2, 3, 4, 20]\n"
            "  last = Reshape(last_node_unblocked:0) shape=[2, 3, 4, 20] : float32[2, 3, 4, 20]\n"
            "  return last\n");
  EXPECT_LE(LargestDifference(before, turned.g.graph), 1e-5);
}

TEST(FuseTransposeIntoBlocksTest, OtherConvolutionsDoNot) {
  for (auto [kernel, residual] : {std::pair{3, false}, std::pair{1, true}}) {
    TurnedConv turned(kernel, residual);
    EXPECT_NE(turned.g.After("fuse_transpose_into_blocks").find("UnblockChannels"),
              std::string::npos);
  }
}

TEST(FuseTransposeIntoBlocksTest, LeavesOtherOrdersAndParts) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 2, 3, 4, 16});
  const auto planes = g.Op("planes", "UnblockChannels", {x}, {2, 20, 3, 4}, kTwenty);
  g.Output(g.Op("turned", "Transpose", {planes}, {2, 4, 3, 20}, {{"perm", Ints{0, 3, 2, 1}}}));
  const auto half = g.Op("half", "Slice", {planes}, {2, 10, 3, 4},
                         {{"axes", Ints{1}}, {"ends", Ints{10}}, {"starts", Ints{0}}});
  g.Output(g.Op("some", "Transpose", {half}, {2, 3, 4, 10}, {{"perm", Ints{0, 2, 3, 1}}}));
  const auto tokens = g.Input("tokens", {20, 2, 3, 4});
  const auto swapped =
      g.Op("swapped", "Transpose", {tokens}, {2, 20, 3, 4}, {{"perm", Ints{1, 0, 2, 3}}});
  g.Output(g.Op("y", "BlockChannels", {swapped}, {2, 2, 3, 4, 16}));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("fuse_transpose_into_blocks"), before);
}

}  // namespace
}  // namespace poprt::passes
