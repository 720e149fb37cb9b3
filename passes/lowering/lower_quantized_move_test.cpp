#include "passes/lowering/lower_quantized_move.hpp"

#include <gtest/gtest.h>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

/// QuantizeLinear(op(DequantizeLinear(x))) of [1, 3, 4, 6].
struct MoveForTest : GraphForTest {
  MoveForTest(const char* op, const Shape& result, Attributes attributes, double other_point = 7,
              ElementType bytes = ElementType::kUint8) {
    const auto scale = Scalar(0.3);
    const auto point = [&](double value) { return Constant("p", TensorType{bytes, {}}, {value}); };
    const Shape shape{1, 3, 4, 6};
    const auto x =
        Op("d", "DequantizeLinear", {Input("x", TensorType{bytes, shape}), scale, point(7)}, shape);
    const auto moved = Op("m", op, {x}, result, std::move(attributes));
    Output(
        Op("y", "QuantizeLinear", {moved, scale, point(other_point)}, TensorType{bytes, result}));
  }
};

TEST(LowerQuantizedMoveTest, MovesWhatIsQuantised) {
  for (const ElementType bytes : {ElementType::kUint8, ElementType::kInt8}) {
    MoveForTest pool(
        "MaxPool", {1, 3, 2, 3},
        {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}}, 7,
        bytes);
    MoveForTest transpose("Transpose", {1, 4, 6, 3}, {{"perm", Ints{0, 2, 3, 1}}}, 7, bytes);
    for (MoveForTest* g : {&pool, &transpose}) {
      const ir::Graph before = g->graph;
      const std::string op = before.nodes[1].op;
      const std::string text = g->After("lower_quantized_move");
      EXPECT_EQ(text.substr(0, text.find('(')), "  y = " + op);
      EXPECT_EQ(g->graph.nodes.size(), 1U);
      EXPECT_EQ(LargestDifference(before, g->graph), 0);
    }
  }
}

TEST(LowerQuantizedMoveTest, LeavesWhatChangesNumbers) {
  MoveForTest other("Transpose", {1, 4, 6, 3}, {{"perm", Ints{0, 2, 3, 1}}}, 8);
  std::string before = other.Text();
  EXPECT_EQ(other.After("lower_quantized_move"), before);
  MoveForTest relu("Relu", {1, 3, 4, 6}, {});
  before = relu.Text();
  EXPECT_EQ(relu.After("lower_quantized_move"), before);
}

}  // namespace
}  // namespace poprt::passes
