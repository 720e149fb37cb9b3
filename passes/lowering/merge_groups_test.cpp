#include "passes/lowering/merge_groups.hpp"

#include <gtest/gtest.h>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-5;

std::vector<double> Ramp(std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i * 5 % 13) / 8 - 0.75;
  }
  return values;
}

/// The Conv of images with `inputs` and `outputs` channels a group, after the pass.
std::string Merged(std::int64_t group, std::int64_t inputs, std::int64_t outputs, Shape taps) {
  GraphForTest g;
  const Shape w{group * outputs, inputs, taps[0], taps[1]};
  g.Output(
      g.Op("y", "Conv",
           {g.Input("x", {1, group * inputs, 5, 4}), g.Constant("w", w, Ramp(ElementCount(w)))},
           {1, group * outputs, 6 - taps[0], 5 - taps[1]}, {{"group", group}}));
  const ir::Graph before = g.graph;
  std::string text = g.After("merge_groups");
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  return text;
}

TEST(MergeGroupsTest, MakesWholeBlocks) {
  EXPECT_EQ(Merged(8, 4, 4, {3, 3}),
            "  y = Conv(x, y_node_merged) group=2 : float32[1, 32, 3, 2]\n  return y\n");
  EXPECT_EQ(Merged(6, 8, 8, {1, 3}),
            "  y = Conv(x, y_node_merged) group=3 : float32[1, 48, 5, 2]\n  return y\n");
  EXPECT_EQ(Merged(4, 8, 4, {2, 2}),
            "  y = Conv(x, y_node_merged) group=1 : float32[1, 16, 4, 3]\n  return y\n");
}

TEST(MergeGroupsTest, LeavesWhatDoesNotPay) {
  for (const std::string& text :
       {Merged(8, 2, 2, {3, 3}), Merged(6, 4, 4, {3, 3}), Merged(2, 16, 16, {3, 3}),
        Merged(4, 8, 8, {1, 1}), Merged(1, 4, 4, {3, 3}), Merged(16, 1, 1, {3, 3})}) {
    EXPECT_NE(text.find("y = Conv(x, w)"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace poprt::passes
