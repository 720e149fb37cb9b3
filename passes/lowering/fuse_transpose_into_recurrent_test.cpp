#include "passes/lowering/fuse_transpose_into_recurrent.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

std::vector<double> Ramp(std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i % 13) / 20 - 0.3);
  return values;
}

/// A bidirectional GRU of 4 hidden units and 3 inputs, of 5 steps of 2 sequences.
ir::ValueId BothWays(GraphForTest& g, ir::ValueId x) {
  const auto w = g.Constant("w", {2, 12, 3}, Ramp(72));
  const auto r = g.Constant("r", {2, 12, 4}, Ramp(96));
  return g.Op("gru", "GRU", {x, w, r}, {5, 2, 2, 4}, {{"direction", std::string("bidirectional")}});
}

TEST(FuseTransposeIntoRecurrentTest, ReadsAndWritesInAnyOrder) {
  GraphForTest g;
  const auto x =
      g.Op("x", "Transpose", {g.Input("rows", {2, 5, 3})}, {5, 2, 3}, {{"perm", Ints{1, 0, 2}}});
  g.Output(g.Op("y", "Transpose", {BothWays(g, x)}, {2, 5, 2, 4}, {{"perm", Ints{2, 0, 1, 3}}}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("fuse_transpose_into_recurrent"),
            "  gru = GRU(rows, w, r) direction=\"bidirectional\" x_perm=[1, 0, 2] "
            "y_perm=[2, 0, 1, 3] : float32[2, 5, 2, 4]\n"
            "  return gru\n");
  EXPECT_EQ(LargestDifference(before, g.graph), 0);
}

TEST(FuseTransposeIntoRecurrentTest, LeavesOthers) {
  GraphForTest g;
  const auto y = BothWays(g, g.Input("x", {5, 2, 3}));
  const auto transpose = [&](ir::ValueId of, Shape shape, Ints perm) {
    g.Output(g.Op("y", "Transpose", {of}, std::move(shape), {{"perm", std::move(perm)}}));
  };
  // Read in two orders.
  transpose(y, {5, 2, 2, 4}, {0, 2, 1, 3});
  transpose(y, {2, 5, 2, 4}, {2, 0, 1, 3});
  // Wanted as it is, too.
  const auto both = BothWays(g, g.Input("x", {5, 2, 3}));
  g.Output(both);
  transpose(both, {5, 2, 2, 4}, {0, 2, 1, 3});
  // Hidden units and inputs that do not lie side by side.
  transpose(BothWays(g, g.Input("x", {5, 2, 3})), {4, 5, 2, 2}, {3, 0, 1, 2});
  const auto turned =
      g.Op("turned", "Transpose", {g.Input("x", {5, 3, 2})}, {5, 2, 3}, {{"perm", Ints{0, 2, 1}}});
  g.Output(BothWays(g, turned));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("fuse_transpose_into_recurrent"), before);
}

}  // namespace
}  // namespace poprt::passes
