#include "passes/lowering/strided_view.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

/// How the last node's result is seen.
StridedView ViewOfLast(GraphForTest& g, bool scaled = false) {
  std::optional<StridedView> view;
  const ir::ValueId last = g.graph.nodes.back().outputs[0];
  g.Output(g.Op("end", "Relu", {last}, g.graph.type(last).shape));
  Rewrite(g.graph, [&](Rewriter& sweep, ir::Node& node) {
    if (node.op == "Relu") view = ViewThrough(sweep, node.inputs[0], scaled);
    return false;
  });
  return view.value_or(StridedView{});
}

using Strides64 = std::vector<std::int64_t>;

/// A transposed [2, 3, 4] (as [4, 2, 3]) under another shape.
StridedView TransposedAs(const Shape& shape) {
  GraphForTest g;
  const auto t =
      g.Op("t", "Transpose", {g.Input("x", {2, 3, 4})}, {4, 2, 3}, {{"perm", Ints{2, 0, 1}}});
  g.Op("r", "Reshape", {t}, shape, {{"shape", shape}});
  return ViewOfLast(g);
}

TEST(StridedViewTest, ReshapesWhereElementsNeedNotMove) {
  EXPECT_EQ(TransposedAs({4, 6}).strides, (Strides64{1, 4}));
  EXPECT_EQ(TransposedAs({2, 2, 6}).strides, (Strides64{2, 1, 4}));
  EXPECT_EQ(TransposedAs({4, 3, 2}).strides, (Strides64{1, 8, 4}));
  EXPECT_EQ(TransposedAs({4, 1, 6, 1}).strides, (Strides64{1, 0, 4, 0}));
}

TEST(StridedViewTest, StopsAtReshapesThatMoveElements) {
  const StridedView view = TransposedAs({8, 3});
  EXPECT_EQ(view.strides, (Strides64{3, 1}));
  EXPECT_EQ(view.offset, 0);
  EXPECT_EQ(TransposedAs({24}).strides, (Strides64{1}));
}

TEST(StridedViewTest, SlicesFromEitherEnd) {
  GraphForTest g;
  g.Op("s", "Slice", {g.Input("x", {5, 6})}, {2, 3},
       {{"starts", Ints{-3, 2}}, {"ends", Ints{-1, 5}}, {"axes", Ints{0, 1}}});
  const StridedView view = ViewOfLast(g);
  EXPECT_EQ(view.offset, 2 * 6 + 2);
  EXPECT_EQ(view.shape, (Shape{2, 3}));
  EXPECT_EQ(view.strides, (Strides64{6, 1}));
}

TEST(StridedViewTest, LeavesSlicesWithSteps) {
  GraphForTest g;
  const auto x = g.Input("x", {6});
  g.Op("s", "Slice", {x}, {3},
       {{"starts", Ints{0}}, {"ends", Ints{6}}, {"axes", Ints{0}}, {"steps", Ints{2}}});
  EXPECT_NE(ViewOfLast(g).source, x);
}

TEST(StridedViewTest, GathersOneIndexWithOrWithoutItsAxis) {
  for (const bool keeps_axis : {false, true}) {
    GraphForTest g;
    const Shape index = keeps_axis ? Shape{1} : Shape{};
    const auto at = g.Constant("at", TensorType{ElementType::kInt64, index}, {-1});
    const auto x = g.Input("x", {2, 3, 4});
    g.Op("s", "Gather", {x, at}, keeps_axis ? Shape{2, 1, 4} : Shape{2, 4},
         {{"axis", std::int64_t{1}}});
    const StridedView view = ViewOfLast(g);
    EXPECT_EQ(view.source, x);
    EXPECT_EQ(view.offset, 2 * 4);
    EXPECT_EQ(view.strides, keeps_axis ? (Strides64{12, 0, 1}) : (Strides64{12, 1}));
  }
}

TEST(StridedViewTest, TakesFactorsWhereTheyAreAllowed) {
  for (const bool scaled : {true, false}) {
    GraphForTest g;
    const auto x = g.Input("x", {4});
    const auto half = g.Op("h", "Div", {x, g.Scalar(2)}, {4});
    g.Op("m", "Mul", {g.Scalar(3), half}, {4});
    const StridedView view = ViewOfLast(g, scaled);
    EXPECT_EQ(view.source == x, scaled);
    EXPECT_EQ(view.factor, scaled ? 1.5 : 1.0);
  }
}

}  // namespace
}  // namespace poprt::passes
