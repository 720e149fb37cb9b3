#include "passes/lowering/lower_channel_matmul.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-6;

TEST(LowerChannelMatMulTest, SumsOverChannelsOfImagesWhereTheyLie) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 3, 5, 4});
  const auto w = g.Constant("w", {3, 6}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto bias = g.Constant("bias", {6}, {1, 2, 3, 4, 5, 6});
  const auto last = g.Op("last", "Transpose", {x}, {2, 5, 4, 3}, {{"perm", Ints{0, 2, 3, 1}}});
  const auto product = g.Op("product", "FusedMatMul", {last, w, bias}, {2, 5, 4, 6},
                            {{"trans_b", std::int64_t{0}}, {"activation", "relu"}});
  g.Output(g.Op("y", "Transpose", {product}, {2, 6, 5, 4}, {{"perm", Ints{0, 3, 1, 2}}}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("lower_channel_matmul"),
            "  y = FusedConv(x, w_1, bias) activation=\"relu\" dilations=[1, 1] group=1 "
            "kernel_shape=[1, 1] pads=[0, 0, 0, 0] strides=[1, 1] : float32[2, 6, 5, 4]\n"
            "  return y\n");
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
}

TEST(LowerChannelMatMulTest, SumsOverChannelsOfRows) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 3, 16});
  const auto w = g.Constant("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  const auto last = g.Op("last", "Transpose", {x}, {2, 16, 3}, {{"perm", Ints{0, 2, 1}}});
  const auto product =
      g.Op("product", "FusedMatMul", {last, w}, {2, 16, 2}, {{"trans_b", std::int64_t{1}}});
  g.Output(g.Op("y", "Transpose", {product}, {2, 2, 16}, {{"perm", Ints{0, 2, 1}}}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("lower_channel_matmul"),
            "  y_node_image:0 = Reshape(x) shape=[2, 3, 1, 16] : float32[2, 3, 1, 16]\n"
            "  y_node_1:0 = FusedConv(y_node_image:0, w_1) dilations=[1, 1] group=1 "
            "kernel_shape=[1, 1] pads=[0, 0, 0, 0] strides=[1, 1] : float32[2, 2, 1, 16]\n"
            "  y = Reshape(y_node_1:0) shape=[2, 2, 16] : float32[2, 2, 16]\n"
            "  return y\n");
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
}

TEST(LowerChannelMatMulTest, LeavesOtherTransposes) {
  GraphForTest g;
  const Shape cube{2, 4, 4, 4};
  const auto x = g.Input("x", cube);
  const auto w = g.Constant("w", {4, 4}, std::vector<double>(16, 2));
  const auto product = [&](const std::string& name, const Ints& perm) {
    const auto last = g.Op(name + "_last", "Transpose", {x}, cube, {{"perm", perm}});
    return g.Op(name + "_product", "FusedMatMul", {last, w}, cube);
  };
  const Ints back{0, 3, 1, 2};
  g.Output(g.Op("columns", "Transpose", {product("c", {0, 3, 2, 1})}, cube, {{"perm", back}}));
  g.Output(g.Op("turned", "Transpose", {product("t", {0, 2, 3, 1})}, cube,
                {{"perm", Ints{0, 3, 2, 1}}}));
  const auto shared = product("s", {0, 2, 3, 1});
  g.Output(g.Op("shared", "Transpose", {shared}, cube, {{"perm", back}}));
  g.Output(shared);
  const auto deep = g.Input("deep", {1, 513, 16});
  const auto long_sum = g.Constant("long_sum", {513, 1}, std::vector<double>(513, 1));
  const auto deep_last =
      g.Op("deep_last", "Transpose", {deep}, {1, 16, 513}, {{"perm", Ints{0, 2, 1}}});
  const auto deep_product = g.Op("deep_product", "FusedMatMul", {deep_last, long_sum}, {1, 16, 1});
  g.Output(g.Op("deep_back", "Transpose", {deep_product}, {1, 1, 16}, {{"perm", Ints{0, 2, 1}}}));
  const auto few = g.Input("few", {64, 4, 15});
  const auto few_last =
      g.Op("few_last", "Transpose", {few}, {64, 15, 4}, {{"perm", Ints{0, 2, 1}}});
  const auto few_product = g.Op("few_product", "FusedMatMul", {few_last, w}, {64, 15, 4});
  g.Output(g.Op("few_back", "Transpose", {few_product}, {64, 4, 15}, {{"perm", Ints{0, 2, 1}}}));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("lower_channel_matmul"), before);
}

}  // namespace
}  // namespace poprt::passes
