#include <gtest/gtest.h>

#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

/// y = Exp(Add(Relu(x), Abs(x))); the nodes are called r_node, b_node, s_node, y_node.
GraphForTest Diamond() {
  GraphForTest g;
  const auto x = g.Input("x", {2});
  const auto r = g.Op("r", "Relu", {x}, {2}, {{"__ipu_number", std::int64_t{7}}});
  const auto b = g.Op("b", "Abs", {x}, {2});
  const auto s = g.Op("s", "Add", {r, b}, {2});
  g.Output(g.Op("y", "Exp", {s}, {2}));
  return g;
}

std::string After(const std::vector<ShardingNode>& nodes) {
  PassContext context;
  context.sharding = nodes;
  GraphForTest g = Diamond();
  return g.After("manual_sharding", context);
}

TEST(ManualShardingTest, WalksTowardsTheInputs) {
  EXPECT_EQ(After({{"r_node", 0, {}}, {"s_node", 2, {}}}),
            "  r = Relu(x) __ipu_number=0 : float32[2]\n"
            "  b = Abs(x) __ipu_number=2 : float32[2]\n"
            "  s = Add(r, b) __ipu_number=2 : float32[2]\n"
            "  y = Exp(s) __ipu_number=3 : float32[2]\n"
            "  return y\n");
}

TEST(ManualShardingTest, StagesGoWithIt) {
  EXPECT_EQ(After({{"s_node", 1, 0}}),
            "  r = Relu(x) __ipu_number=1 __pipeline_stage=0 : float32[2]\n"
            "  b = Abs(x) __ipu_number=1 __pipeline_stage=0 : float32[2]\n"
            "  s = Add(r, b) __ipu_number=1 __pipeline_stage=0 : float32[2]\n"
            "  y = Exp(s) __ipu_number=2 __pipeline_stage=1 : float32[2]\n"
            "  return y\n");
}

TEST(ManualShardingTest, WithoutAListNothingChanges) { EXPECT_EQ(After({}), Diamond().Text()); }

TEST(ManualShardingTest, AllProblemsAreTold) {
  EXPECT_EQ(After({{"s_node", 0, {}}, {"t_node", 1, {}}, {"r_node", 1, {}}, {"s_node", 2, {}}}),
            "model 'g' has no nodes named for sharding: 't_node' (did you mean 'r_node'?)\n"
            "node 'r_node' is needed for node 's_node', which is listed before it; list it first\n"
            "node 's_node' stands there twice");
}

}  // namespace
}  // namespace poprt::passes
