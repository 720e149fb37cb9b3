#include "passes/lowering/enlarge_after_pointwise.hpp"

#include <gtest/gtest.h>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"
#include "passes/weights_for_test.hpp"

namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-5;

class Head : public GraphForTest {
 public:
  /// Enlarged to 6x5 pixels.
  ir::ValueId Enlarged(std::string_view name, ir::ValueId x, Attributes attributes = {}) {
    Shape shape = graph.type(x).shape;
    shape[2] = 6;
    shape[3] = 5;
    attributes.set("sizes", Ints(shape));
    if (!attributes.has("mode")) attributes.set("mode", std::string("linear"));
    return Op(name, "Resize", {x}, shape, std::move(attributes));
  }

  /// Repeated over as many pixels as that shape has.
  ir::ValueId Repeated(std::string_view name, ir::ValueId x, const Shape& shape) {
    return Op(name, "Expand", {x}, shape, {{"shape", Ints(shape)}});
  }

  ir::ValueId Joined(std::vector<ir::ValueId> values) {
    Shape shape = graph.type(values[0]).shape;
    shape[1] = 0;
    for (const ir::ValueId value : values) shape[1] += graph.type(value).shape[1];
    return Op("joined", "Concat", std::move(values), shape, {{"axis", std::int64_t{1}}});
  }

  ir::ValueId Conv(ir::ValueId x, std::int64_t outs, std::int64_t side = 1) {
    Shape shape = graph.type(x).shape;
    Shape weights(shape.size(), side);
    weights[0] = outs;
    weights[1] = shape[1];
    shape[1] = outs;
    return Op("y", "Conv",
              {x, Constant("w", weights, WeightsForTest(ElementCount(weights))),
               Constant("b", {outs}, WeightsForTest(outs))},
              shape, {{"pads", Ints(2 * shape.size() - 4, side / 2)}});
  }

  /// The operators after the pass, which must compute the same.
  std::string Moved() {
    const ir::Graph before = graph;
    After("enlarge_after_pointwise");
    EXPECT_EQ(ir::Verify(graph), std::nullopt);
    EXPECT_LE(LargestDifference(before, graph), kRounding);
    std::string text;
    for (const ir::Node& node : graph.nodes) {
      const Shape& shape = graph.type(node.outputs[0]).shape;
      text += (text.empty() ? "" : " ") + node.op + ":" + std::to_string(shape[1]) + "x" +
              std::to_string(shape.back());
    }
    return text;
  }
};

TEST(EnlargeAfterPointwiseTest, ConvComesFirst) {
  for (const char* mode : {"linear", "cubic", "nearest"}) {
    Head g;
    const auto x = g.Input("x", {2, 4, 3, 2});
    g.Output(g.Conv(g.Enlarged("r", x, {{"mode", std::string(mode)}}), 3));
    EXPECT_EQ(g.Moved(), "Conv:3x2 Resize:3x5") << mode;
  }
}

TEST(EnlargeAfterPointwiseTest, PartsOfTheChannelsDoSo) {
  Head g;
  const auto a = g.Enlarged("a", g.Input("x", {1, 3, 3, 3}));
  const auto b = g.Enlarged("b", g.Input("y", {1, 4, 2, 2}));
  const auto few = g.Enlarged("few", g.Input("z", {1, 2, 2, 2}));
  g.Output(g.Conv(g.Joined({a, g.Input("v", {1, 5, 6, 5}), b, few}), 3));
  EXPECT_EQ(g.Moved(),
            "Resize:2x5 Conv:3x3 Resize:3x5 Conv:3x2 Resize:3x5 Concat:7x5 Conv:3x5 Add:3x5 "
            "Add:3x5");
}

TEST(EnlargeAfterPointwiseTest, RepeatedPixelsAreRepeatedByTheSum) {
  Head g;
  const auto pixel = g.Repeated("a", g.Input("x", {2, 20, 1, 1}), {2, 20, 6, 5});
  const auto resized = g.Enlarged("b", g.Input("y", {2, 4, 2, 2}));
  g.Output(g.Conv(g.Joined({pixel, g.Input("v", {2, 5, 6, 5}), resized}), 3));
  EXPECT_EQ(g.Moved(), "Conv:3x2 Resize:3x5 Conv:3x5 Conv:3x1 Add:3x5 Add:3x5");
}

TEST(EnlargeAfterPointwiseTest, CloudsOfPointsAreEnlargedSo) {
  Head g;
  const auto all = g.Repeated("a", g.Input("x", {1, 16, 1}), {2, 16, 7});
  g.Output(g.Conv(g.Joined({g.Input("v", {2, 5, 7}), all}), 40));
  EXPECT_EQ(g.Moved(), "Conv:40x7 Conv:40x1 Add:40x7");
}

TEST(EnlargeAfterPointwiseTest, NothingButRepeatedPixels) {
  Head one;
  one.Output(one.Conv(one.Repeated("a", one.Input("x", {1, 16, 1, 1}), {2, 16, 6, 5}), 3));
  EXPECT_EQ(one.Moved(), "Conv:3x1 Expand:3x5");
  Head two;
  const auto a = two.Repeated("a", two.Input("x", {1, 16, 1, 1}), {2, 16, 6, 5});
  const auto b = two.Repeated("b", two.Input("y", {2, 17, 1, 1}), {2, 17, 6, 5});
  two.Output(two.Conv(two.Joined({a, b}), 3));
  EXPECT_EQ(two.Moved(), "Conv:3x1 Expand:3x5 Conv:3x1 Add:3x5");
}

TEST(EnlargeAfterPointwiseTest, LeavesFewOrDifferentPixels) {
  const auto left = [](const Shape& x) {
    Head g;
    g.Output(g.Conv(g.Repeated("a", g.Input("x", x), {2, 16, 6, 5}), 3));
    return g.Moved();
  };
  EXPECT_EQ(left({2, 1, 1, 1}), "Expand:16x5 Conv:3x5");
  EXPECT_EQ(left({2, 16, 6, 1}), "Expand:16x5 Conv:3x5");
  Head few;
  few.Output(few.Conv(few.Repeated("a", few.Input("x", {2, 15, 1, 1}), {2, 15, 6, 5}), 3));
  EXPECT_EQ(few.Moved(), "Expand:15x5 Conv:3x5");
}

TEST(EnlargeAfterPointwiseTest, AllPartsHaveOneBias) {
  Head g;
  const auto a = g.Enlarged("a", g.Input("x", {1, 3, 3, 3}));
  const auto b = g.Enlarged("b", g.Input("y", {1, 4, 2, 2}));
  g.Output(g.Conv(g.Joined({a, b}), 2));
  EXPECT_EQ(g.Moved(), "Conv:2x3 Resize:2x5 Conv:2x2 Resize:2x5 Add:2x5");
}

TEST(EnlargeAfterPointwiseTest, LeavesWhatDoesNotPayOrDiffers) {
  const auto left = [](std::int64_t outs, std::int64_t side, bool shared, Attributes attributes) {
    Head g;
    const auto resized = g.Enlarged("r", g.Input("x", {1, 4, 3, 2}), std::move(attributes));
    g.Output(g.Conv(resized, outs, side));
    if (shared) g.Output(resized);
    return g.Moved();
  };
  EXPECT_EQ(left(5, 1, false, {}), "Resize:4x5 Conv:5x5");
  EXPECT_EQ(left(3, 3, false, {}), "Resize:4x5 Conv:3x5");
  EXPECT_EQ(left(3, 1, true, {}), "Resize:4x5 Conv:3x5");
  EXPECT_EQ(left(3, 1, false,
                 {{"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
                  {"roi", Floats{0, 0, 0, 0, 1, 1, 2, 1}}}),
            "Resize:4x5 Conv:3x5");
}

TEST(EnlargeAfterPointwiseTest, LeavesWhatMixesChannels) {
  Head g;
  const auto mixed = g.Op("r", "Resize", {g.Input("x", {1, 4, 3, 2})}, {1, 4, 6, 5},
                          {{"scales", Floats{1, 1.2F, 2, 2.5F}}, {"mode", std::string("linear")}});
  g.Output(g.Conv(mixed, 3));
  EXPECT_EQ(g.Moved(), "Resize:4x5 Conv:3x5");
}

TEST(EnlargeAfterPointwiseTest, PassesOverPartsWithoutChannels) {
  Head g;
  const auto a = g.Enlarged("a", g.Input("x", {1, 3, 3, 3}));
  g.Output(g.Conv(g.Joined({a, g.Input("none", {1, 0, 6, 5})}), 3));
  EXPECT_EQ(g.Moved(), "Conv:3x3 Resize:3x5");
}

}  // namespace
}  // namespace poprt::passes
