#include "passes/lowering/lower_patch_conv.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"
#include "passes/weights_for_test.hpp"

namespace poprt::passes {
namespace {

/// A convolution of [2, 3, 50, 37] by filters of 12 x 12, which cut 12 patches of each image and
/// leave a margin.
struct PatchesForTest : GraphForTest {
  explicit PatchesForTest(Attributes attributes = {{"strides", Ints{12, 12}}}) {
    const auto x = Input("x", {2, 3, 50, 37});
    const auto w = Constant("w", {5, 3, 12, 12}, WeightsForTest(5 * 3 * 144));
    const auto bias = Constant("b", {5}, {1, -2, 3, 0.5, 0});
    patches = Op("patches", "FusedConv", {x, w, bias}, {2, 5, 4, 3}, std::move(attributes));
  }
  std::string Operators() const {
    std::string found;
    for (const ir::Node& node : graph.nodes) found += node.op + " ";
    return found;
  }

  ir::ValueId patches;
};

TEST(LowerPatchConvTest, TokensOfPatchesAreRowsOfAProduct) {
  PatchesForTest g({{"activation", "relu"}, {"strides", Ints{12, 12}}});
  const auto flat = g.Op("flat", "Reshape", {g.patches}, {2, 5, 12}, {{"shape", Ints{2, 5, 12}}});
  g.Output(g.Op("tokens", "Transpose", {flat}, {2, 12, 5}, {{"perm", Ints{0, 2, 1}}}));
  const ir::Graph before = g.graph;
  g.After("lower_patch_conv");
  g.After("eliminate_deadend");
  EXPECT_EQ(g.Operators(), "Slice Reshape Transpose Reshape FusedMatMul Reshape ");
  EXPECT_LE(LargestDifference(before, g.graph), 1e-5);
}

TEST(LowerPatchConvTest, ImagesOfPatchesAreTransposed) {
  PatchesForTest g;
  g.Output(g.patches);
  const auto turned =
      g.Op("turned", "Transpose", {g.patches}, {2, 5, 3, 4}, {{"perm", Ints{0, 1, 3, 2}}});
  g.Output(turned);
  const ir::Graph before = g.graph;
  g.After("lower_patch_conv");
  EXPECT_EQ(g.Operators(),
            "Slice Reshape Transpose Reshape FusedMatMul Reshape Transpose Transpose ");
  EXPECT_LE(LargestDifference(before, g.graph), 1e-5);
}

TEST(LowerPatchConvTest, LeavesWindowsThatDoNotLieSideBySide) {
  const Attributes side_by_side{{"strides", Ints{12, 12}}};
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, AttributeValue>>{{"strides", Ints{11, 12}},
                                                                     {"pads", Ints{1, 0, 0, 0}},
                                                                     {"pads", Ints{0, 0, 0, 1}},
                                                                     {"dilations", Ints{1, 2}}}) {
    Attributes attributes = side_by_side;
    attributes.set(name, value);
    PatchesForTest g(attributes);
    g.Output(g.patches);
    const std::string before = g.Text();
    EXPECT_EQ(g.After("lower_patch_conv"), before) << name;
  }
}

TEST(LowerPatchConvTest, LeavesSmallPatchesManyChannelsAndSums) {
  GraphForTest g;
  const auto conv = [&g](Shape image, Shape filters, ir::ValueId residual = ir::kAbsent) {
    const std::int64_t count = ElementCount(filters);
    const Ints side{filters[2], filters[3]};
    const Shape y{1, filters[0], image[2] / side[0], image[3] / side[1]};
    const auto x = g.Input("x", std::move(image));
    const auto w = g.Constant("w", std::move(filters), WeightsForTest(count));
    std::vector<ir::ValueId> inputs{x, w};
    if (residual != ir::kAbsent) inputs.insert(inputs.end(), {ir::kAbsent, residual});
    g.Output(g.Op("y", "FusedConv", std::move(inputs), y, {{"strides", side}}));
  };
  conv({1, 3, 32, 32}, {4, 3, 8, 8});
  conv({1, 16, 48, 48}, {4, 16, 12, 12});
  conv({1, 3, 48, 48}, {4, 3, 12, 12}, g.Input("r", {1, 4, 4, 4}));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("lower_patch_conv"), before);
}

}  // namespace
}  // namespace poprt::passes
