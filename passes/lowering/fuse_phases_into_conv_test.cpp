#include "passes/lowering/fuse_phases_into_conv.hpp"

#include <gtest/gtest.h>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"
#include "passes/weights_for_test.hpp"

namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-5;

class Focus : public GraphForTest {
 public:
  ir::ValueId Slice(std::string_view name, ir::ValueId x, Shape shape, std::int64_t axis,
                    std::int64_t start, std::int64_t step) {
    return Op(name, "Slice", {x}, std::move(shape),
              {{"axes", Ints{axis}},
               {"ends", Ints{1000}},
               {"starts", Ints{start}},
               {"steps", Ints{step}}});
  }

  ir::ValueId Joined(std::vector<ir::ValueId> phases) {
    Shape shape = graph.type(phases[0]).shape;
    shape[1] *= static_cast<std::int64_t>(phases.size());
    return Op("joined", "Concat", std::move(phases), shape, {{"axis", std::int64_t{1}}});
  }

  /// Conv 3x3 with two results.
  void Conv(ir::ValueId x, Shape result, Attributes attributes) {
    const std::int64_t channels = graph.type(x).shape[1];
    Output(Op("y", "Conv",
              {x, Constant("w", {2, channels, 3, 3}, WeightsForTest(18 * channels)),
               Constant("b", {2}, {0.5, -1})},
              std::move(result), std::move(attributes)));
  }

  /// The text after the pass, which must compute the same.
  std::string Fused() {
    const ir::Graph before = graph;
    std::string text = After("fuse_phases_into_conv");
    EXPECT_LE(LargestDifference(before, graph), kRounding) << text;
    return text;
  }
};

TEST(FusePhasesIntoConvTest, ReadsTheImage) {
  Focus g;
  const auto x = g.Input("x", {2, 2, 8, 6});
  std::vector<ir::ValueId> phases;
  for (const std::int64_t column : {0, 1}) {
    for (const std::int64_t row : {1, 0}) {
      const auto rows = g.Slice("r", x, {2, 2, 4, 6}, 2, row, 2);
      phases.push_back(g.Slice("p", rows, {2, 2, 4, 3}, 3, column, 2));
    }
  }
  g.Conv(g.Joined(std::move(phases)), {2, 2, 2, 3},
         {{"pads", Ints{1, 0, 0, 2}}, {"strides", Ints{2, 1}}});
  EXPECT_EQ(g.Fused(),
            "  y = Conv(x, w_of_image, b) kernel_shape=[6, 6] pads=[2, 0, 0, 4] strides=[4, 2] : "
            "float32[2, 2, 2, 3]\n"
            "  return y\n");
}

TEST(FusePhasesIntoConvTest, ReadsTheImageOfSpaceToDepth) {
  Focus g;
  const auto x = g.Input("x", {1, 1, 9, 6});
  g.Conv(g.Op("s", "SpaceToDepth", {x}, {1, 9, 3, 2}, {{"blocksize", std::int64_t{3}}}),
         {1, 2, 3, 2}, {{"auto_pad", std::string("SAME_UPPER")}});
  EXPECT_EQ(g.Fused(),
            "  y = Conv(x, w_of_image, b) kernel_shape=[9, 9] pads=[3, 3, 3, 3] strides=[3, 3] : "
            "float32[1, 2, 3, 2]\n"
            "  return y\n");
}

/// Whether a Conv of these columns of every second row of x[2, 1, 8, 9] reads x itself.
bool ReadsImage(const std::vector<std::int64_t>& columns, std::int64_t dilation = 1,
                bool is_shared = false) {
  Focus g;
  const auto x = g.Input("x", {2, 1, 8, 9});
  std::vector<ir::ValueId> phases;
  for (const std::int64_t row : {0, 1}) {
    const auto rows = g.Slice("r", x, {2, 1, 4, 9}, 2, row, 2);
    for (const std::int64_t column : columns) {
      phases.push_back(g.Slice("p", rows, {2, 1, 4, 3}, 3, column, 3));
    }
  }
  const auto joined = g.Joined(std::move(phases));
  if (is_shared) g.Output(joined);
  g.Conv(joined, {2, 2, 4, 3}, {{"dilations", Ints(2, dilation)}, {"pads", Ints(4, dilation)}});
  return g.Fused().starts_with("  y = Conv(x, w_of_image, b)");
}

TEST(FusePhasesIntoConvTest, LeavesWhatIsNoImage) {
  EXPECT_TRUE(ReadsImage({2, 0, 1}));
  EXPECT_FALSE(ReadsImage({0, 1}));
  EXPECT_FALSE(ReadsImage({0, 1, 1}));
  EXPECT_FALSE(ReadsImage({0, 1, 2}, 2));
  EXPECT_FALSE(ReadsImage({0, 1, 2}, 1, true));
}

TEST(FusePhasesIntoConvTest, LeavesChannelsThatFillABlock) {
  Focus g;
  const auto x = g.Input("x", {1, 4, 4, 4});
  g.Conv(g.Op("s", "SpaceToDepth", {x}, {1, 16, 2, 2}, {{"blocksize", std::int64_t{2}}}),
         {1, 2, 2, 2}, {{"pads", Ints{1, 1, 1, 1}}});
  EXPECT_TRUE(g.Fused().starts_with("  s = SpaceToDepth(x)"));
}

/// A part of the channels, or of the image, is an image too.
TEST(FusePhasesIntoConvTest, ReadsAPartOfAnImage) {
  Focus g;
  const auto x = g.Input("x", {1, 4, 5, 4});
  const auto colours = g.Op("colours", "Slice", {x}, {1, 2, 4, 4},
                            {{"axes", Ints{1, 2}}, {"ends", Ints{3, 4}}, {"starts", Ints{1, 0}}});
  std::vector<ir::ValueId> phases;
  for (const std::int64_t row : {0, 1}) {
    phases.push_back(g.Slice("p", colours, {1, 2, 2, 4}, 2, row, 2));
  }
  g.Conv(g.Joined(std::move(phases)), {1, 2, 2, 4}, {{"pads", Ints{1, 1, 1, 1}}});
  EXPECT_TRUE(g.Fused().find("y = Conv(colours, w_of_image, b)") != std::string::npos);
}

TEST(FusePhasesIntoConvTest, LeavesPhasesWithoutChannels) {
  constexpr std::int64_t kBlocks = std::int64_t{1} << 20;
  Focus g;
  const auto x = g.Input("x", {1, 0, kBlocks, kBlocks});
  const auto s = g.Op("s", "SpaceToDepth", {x}, {1, 0, 1, 1}, {{"blocksize", kBlocks}});
  g.Output(g.Op("y", "Conv", {s, g.Constant("w", {2, 0, 1, 1}, {})}, {1, 2, 1, 1}));
  EXPECT_TRUE(g.After("fuse_phases_into_conv").starts_with("  s = SpaceToDepth(x)"));
}

TEST(FusePhasesIntoConvTest, LeavesStepsThatOverflow) {
  constexpr std::int64_t kStep = std::int64_t{1} << 40;
  Focus g;
  const auto p = g.Slice("p", g.Input("x", {1, 1, 2, 2}), {1, 1, 1, 2}, 2, 0, kStep);
  const auto q = g.Slice("q", p, {1, 1, 1, 2}, 2, 0, kStep);
  g.Conv(g.Joined({q, q}), {1, 2, 1, 2}, {{"pads", Ints{1, 1, 1, 1}}});
  EXPECT_TRUE(g.Fused().starts_with("  p = Slice(x)"));
}

}  // namespace
}  // namespace poprt::passes
