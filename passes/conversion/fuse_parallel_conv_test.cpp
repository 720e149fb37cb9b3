#include "passes/conversion/fuse_parallel_conv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-5;
const Shape kImage{1, 4, 5, 6};

struct BranchesForTest : GraphForTest {
  explicit BranchesForTest(std::int64_t group_of_convs = 1) : group(group_of_convs) {
    x = Input("x", kImage);
  }

  ir::ValueId Conv(const std::string& name, Shape kernel, Attributes attributes, bool biased = true,
                   Shape result = kImage) {
    Shape shape{4, 4 / group};
    shape.insert(shape.end(), kernel.begin(), kernel.end());
    std::vector<double> weights;
    for (std::int64_t i = 0; i < ElementCount(shape); ++i) {
      weights.push_back(std::sin(static_cast<double>(i + std::ssize(graph.nodes) * 100)));
    }
    std::vector<ir::ValueId> inputs{x, Constant(name + "_w", shape, weights)};
    if (biased) inputs.push_back(Constant(name + "_b", Shape{4}, {1, -2, 3, 4}));
    attributes.set("group", group);
    return Op(name, "Conv", inputs, std::move(result), attributes);
  }

  ir::ValueId BatchNorm(const std::string& name) {
    return Op(
        name, "BatchNormalization",
        {x, Constant("scale", Shape{4}, {0.5, 2, 1, 3}), Constant("bias", Shape{4}, {1, -1, 2, 0}),
         Constant("mean", Shape{4}, {0.25, -3, 0, 1}), Constant("var", Shape{4}, {4, 0.5, 1, 2})},
        kImage);
  }

  ir::ValueId Add(const std::string& name, ir::ValueId a, ir::ValueId b) {
    return Op(name, "Add", {a, b}, graph.type(a).shape);
  }

  /// The operators after the pass, of which results stay.
  std::string Fused(ir::ValueId result) {
    Output(result);
    const ir::Graph before = graph;
    After("fuse_parallel_conv");
    EXPECT_EQ(ir::Verify(graph), std::nullopt);
    EXPECT_LE(LargestDifference(before, graph), kRounding);
    std::string text;
    for (const ir::Node& node : graph.nodes) text += (text.empty() ? "" : " ") + node.op;
    return text;
  }

  std::int64_t group;
  ir::ValueId x = ir::kAbsent;
};

const Attributes kPadded{{"pads", Ints{1, 1, 1, 1}}};

TEST(FuseParallelConvTest, SmallerKernelsLieInLargerOnes) {
  for (const std::int64_t group : {1, 2, 4}) {
    BranchesForTest g(group);
    const auto large = g.Conv("large", {3, 3}, kPadded);
    const auto small = g.Conv("small", {1, 1}, {}, /*biased=*/false);
    EXPECT_EQ(g.Fused(g.Add("y", small, large)), "Conv") << group;
    EXPECT_EQ(g.graph.type(g.graph.nodes[0].inputs[1]).shape, (Shape{4, 4 / group, 3, 3}));
  }
}

TEST(FuseParallelConvTest, BlocksOfManyBranchesBecomeOne) {
  for (const std::int64_t group : {1, 4}) {
    BranchesForTest g(group);
    auto sum = g.Add("s", g.Conv("pixel", {1, 1}, {}), g.BatchNorm("n"));
    for (const char* name : {"a", "b", "c"}) {
      sum = g.Add(std::string("s") + name, sum, g.Conv(name, {3, 3}, kPadded));
    }
    EXPECT_EQ(g.Fused(sum), "Conv") << group;
  }
}

TEST(FuseParallelConvTest, TheValueItselfIsABranch) {
  BranchesForTest g(4);
  EXPECT_EQ(g.Fused(g.Add("y", g.x, g.Conv("c", {3, 1}, {{"pads", Ints{1, 0, 1, 0}}}))), "Conv");
}

TEST(FuseParallelConvTest, WindowsMayHaveStridesAndLieAnywhere) {
  BranchesForTest g;
  const Shape half{1, 4, 3, 3};
  const auto same =
      g.Conv("same", {3, 3}, {{"strides", Ints{2, 2}}, {"auto_pad", "SAME_UPPER"}}, true, half);
  const auto pixel = g.Conv("pixel", {1, 1}, {{"strides", Ints{2, 2}}}, true, half);
  EXPECT_EQ(g.Fused(g.Add("y", same, pixel)), "Conv");
}

TEST(FuseParallelConvTest, LeavesWhatWouldBeMoreWorkOrIsReadElsewhere) {
  {
    BranchesForTest g;
    const auto column = g.Conv("column", {3, 1}, {{"pads", Ints{1, 0, 1, 0}}});
    const auto row = g.Conv("row", {1, 3}, {{"pads", Ints{0, 1, 0, 1}}});
    EXPECT_EQ(g.Fused(g.Add("y", column, row)), "Conv Conv Add");
  }
  {
    BranchesForTest g;
    const auto large = g.Conv("large", {3, 3}, kPadded);
    g.Output(large);
    EXPECT_EQ(g.Fused(g.Add("y", large, g.Conv("small", {1, 1}, {}))), "Conv Conv Add");
  }
  {
    BranchesForTest g;
    const Attributes dilated{{"pads", Ints{2, 2, 2, 2}}, {"dilations", Ints{2, 2}}};
    EXPECT_EQ(g.Fused(g.Add("y", g.Conv("wide", {3, 3}, dilated), g.Conv("small", {1, 1}, {}))),
              "Conv Conv Add");
  }
  {
    BranchesForTest g;
    const auto other = g.Input("other", kImage);
    EXPECT_EQ(g.Fused(g.Add("y", g.Conv("c", {3, 3}, kPadded), other)), "Conv Add");
  }
}

}  // namespace
}  // namespace poprt::passes
