#include "passes/lowering/lower_to_integer_matmul.hpp"

#include <gtest/gtest.h>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

constexpr ElementType kFloat = ElementType::kFloat32;

/// A product of bytes as ONNX Runtime's dynamic quantisation writes it.
struct QuantizedForTest : GraphForTest {
  QuantizedForTest() {
    const auto x = Input("x", {2, 3, 5});
    quantized = graph.AddValue("q", {ElementType::kUint8, {2, 3, 5}});
    scale = graph.AddValue("s", {kFloat, {}});
    point = graph.AddValue("p", {ElementType::kUint8, {}});
    graph.nodes.push_back({.name = "quantize",
                           .op = "DynamicQuantizeLinear",
                           .inputs = {x},
                           .outputs = {quantized, scale, point},
                           .attributes = {}});
    weights = Constant("w", {ElementType::kInt8, {5, 4}},
                       {1, -2, 3, 4, 5, -6, 7, 8, 9, 10, 11, -12, 13, 14, 15, 16, 17, 18, -19, 20});
  }

  ir::ValueId Product(std::string_view name, ir::ValueId b) {
    return Op(name, "MatMulInteger", {quantized, b, point}, {ElementType::kInt32, {2, 3, 4}});
  }

  ir::ValueId quantized;
  ir::ValueId scale;
  ir::ValueId point;
  ir::ValueId weights;
};

TEST(LowerToIntegerMatmulTest, TakesInCastScaleAndBias) {
  QuantizedForTest g;
  const Shape shape{2, 3, 4};
  const auto floats =
      g.Op("f", "Cast", {g.Product("m", g.weights)}, shape, {{"to", std::int64_t{1}}});
  const auto factors = g.Op("t", "Mul", {g.scale, g.Scalar(0.25)}, Shape{});
  const auto scaled = g.Op("u", "Mul", {factors, floats}, shape);
  g.Output(g.Op("y", "Add", {scaled, g.Constant("b", Shape{4}, {1, 2, 3, 4})}, shape));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("lower_to_integer_matmul"),
            "  q, s, p = DynamicQuantizeLinear(x) : uint8[2, 3, 5]\n"
            "  t = Mul(s, c) : float32[]\n"
            "  y = IntegerMatMul(q, w, p, -, t, b) : float32[2, 3, 4]\n"
            "  return y\n");
  EXPECT_EQ(LargestDifference(before, g.graph), 0);
}

TEST(LowerToIntegerMatmulTest, LeavesWhatOthersRead) {
  QuantizedForTest g;
  const Shape shape{2, 3, 4};
  const auto integers = g.Product("m", g.weights);
  g.Output(integers);
  g.Output(g.Op("y", "Cast", {integers}, shape, {{"to", std::int64_t{1}}}));
  const auto rows =
      g.Op("f", "Cast", {g.Product("n", g.weights)}, shape, {{"to", std::int64_t{1}}});
  g.Output(g.Op("z", "Mul", {rows, g.Input("r", {3, 1})}, shape));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("lower_to_integer_matmul"),
            "  q, s, p = DynamicQuantizeLinear(x) : uint8[2, 3, 5]\n"
            "  m = IntegerMatMul(q, w, p) : int32[2, 3, 4]\n"
            "  y = Cast(m) to=1 : float32[2, 3, 4]\n"
            "  f = IntegerMatMul(q, w, p) : float32[2, 3, 4]\n"
            "  z = Mul(f, r) : float32[2, 3, 4]\n"
            "  return m, y, z\n");
  EXPECT_EQ(LargestDifference(before, g.graph), 0);
}

TEST(LowerToIntegerMatmulTest, LeavesProductsOfVariables) {
  QuantizedForTest g;
  g.Output(g.Product("m", g.Input("v", {ElementType::kInt8, {5, 4}})));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("lower_to_integer_matmul"), before);
}

}  // namespace
}  // namespace poprt::passes
