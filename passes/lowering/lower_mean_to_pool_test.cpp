#include "passes/lowering/lower_mean_to_pool.hpp"

#include <gtest/gtest.h>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-6;

TEST(LowerMeanToPoolTest, PoolsImages) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 3, 5, 4});
  g.Output(g.Op("kept", "ReduceMean", {x}, {2, 3, 1, 1}, {{"axes", Ints{2, 3}}}));
  g.Output(g.Op("gone", "ReduceMean", {x}, {2, 3},
                {{"axes", Ints{-1, -2}}, {"keepdims", std::int64_t{0}}}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("lower_mean_to_pool"),
            "  kept = GlobalAveragePool(x) : float32[2, 3, 1, 1]\n"
            "  gone_node_pool:0 = GlobalAveragePool(x) : float32[2, 3, 1, 1]\n"
            "  gone = Reshape(gone_node_pool:0) shape=[2, 3] : float32[2, 3]\n"
            "  return kept, gone\n");
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
}

TEST(LowerMeanToPoolTest, LeavesOtherMeans) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 3, 5, 4});
  g.Output(g.Op("rows", "ReduceMean", {x}, {2, 3, 5, 1}, {{"axes", Ints{3}}}));
  g.Output(g.Op("pixels", "ReduceMean", {x}, {2, 1, 1, 4}, {{"axes", Ints{1, 2}}}));
  g.Output(g.Op("all", "ReduceMean", {x}, {1, 1, 1, 1}));
  const auto volume = g.Input("volume", {2, 3, 5, 4, 2});
  g.Output(g.Op("slices", "ReduceMean", {volume}, {2, 3, 1, 1, 2}, {{"axes", Ints{2, 3}}}));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("lower_mean_to_pool"), before);
}

}  // namespace
}  // namespace poprt::passes
