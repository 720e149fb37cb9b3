#include "passes/lowering/merge_groups.hpp"

#include <gtest/gtest.h>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"
#include "passes/weights_for_test.hpp"

namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-5;

/// What becomes of a convolution of images with `inputs` and `outputs` channels a group.
std::string Blocked(std::int64_t group, std::int64_t inputs, std::int64_t outputs, Shape taps) {
  GraphForTest g;
  const Shape w{group * outputs, inputs, taps[0], taps[1]};
  const Shape bias{w[0]};
  g.Output(g.Op(
      "y", "FusedConv",
      {g.Input("x", {2, group * inputs, 5, 4}), g.Constant("w", w, WeightsForTest(ElementCount(w))),
       g.Constant("b", bias, WeightsForTest(w[0]))},
      {2, w[0], 6 - taps[0], 5 - taps[1]}, {{"group", group}}));
  const ir::Graph before = g.graph;
  g.After("block_channels");
  EXPECT_EQ(ir::Verify(g.graph), std::nullopt);
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  for (const ir::Node& node : g.graph.nodes) {
    if (node.op != "BlockedConv") continue;
    return ToString(g.graph.type(node.inputs[1])) + " in " +
           std::to_string(node.attributes.get_int("group", 1));
  }
  return "";
}

TEST(MergeGroupsTest, MakesWholeBlocks) {
  EXPECT_EQ(Blocked(8, 4, 4, {3, 3}), "float32[32, 16, 3, 3] in 2");
  EXPECT_EQ(Blocked(6, 8, 8, {1, 3}), "float32[48, 16, 1, 3] in 3");
  EXPECT_EQ(Blocked(4, 8, 4, {2, 2}), "float32[16, 32, 2, 2] in 1");
  EXPECT_EQ(Blocked(2, 24, 24, {3, 3}), "float32[48, 48, 3, 3] in 1");
}

TEST(MergeGroupsTest, TheLastGroupMayEndWithinABlock) {
  EXPECT_EQ(Blocked(5, 8, 8, {3, 3}), "float32[48, 16, 3, 3] in 3");
  EXPECT_EQ(Blocked(6, 4, 4, {3, 3}), "float32[32, 16, 3, 3] in 2");
  EXPECT_EQ(Blocked(3, 4, 4, {1, 3}), "float32[16, 16, 1, 3] in 1");
}

TEST(MergeGroupsTest, LeavesWhatDoesNotPay) {
  EXPECT_EQ(Blocked(8, 2, 2, {3, 3}), "");
  EXPECT_EQ(Blocked(3, 24, 24, {3, 3}), "");
  EXPECT_EQ(Blocked(3, 8, 4, {3, 3}), "");
  EXPECT_EQ(Blocked(2, 4, 4, {3, 3}), "");
  EXPECT_EQ(Blocked(2, 16, 16, {3, 3}), "float32[32, 16, 3, 3] in 2");
  EXPECT_EQ(Blocked(16, 1, 1, {3, 3}), "float32[16, 1, 3, 3] in 16");
}

}  // namespace
}  // namespace poprt::passes
