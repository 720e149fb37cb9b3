#include "passes/lowering/lower_quantized_matmul.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

/// x [2, 5] quantised and dequantised, and weights for a product with it.
struct SimulatedForTest : GraphForTest {
  explicit SimulatedForTest(ElementType activations = ElementType::kUint8) {
    const TensorType bytes{activations, {2, 5}};
    const auto scale = Constant("s", Shape{}, {0.02});
    const auto point = Constant("p", TensorType{activations, {}}, {100});
    const auto q = Op("q", "QuantizeLinear", {Input("x", bytes.shape), scale, point}, bytes);
    x = Op("d", "DequantizeLinear", {q, scale, point}, bytes.shape);
  }

  /// Multiples by int8 of a scale for each of three columns, the second of zeros.
  ir::ValueId Weights(bool transposed) {
    std::vector<double> values(15);
    for (int i = 0; i < 15; ++i) {
      const int column = transposed ? i / 5 : i % 3;
      const float scale = column == 1 ? 0.0F : 0.004F + 0.001F * static_cast<float>(column);
      values[static_cast<std::size_t>(i)] =
          static_cast<double>(scale * static_cast<float>(i * 37 % 255 - 127));
    }
    return Constant("w", transposed ? Shape{3, 5} : Shape{5, 3}, values);
  }

  ir::ValueId x;
};

/// Sums of floats round, those of integers don't.
constexpr double kRounding = 1e-6;

TEST(LowerQuantizedMatMulTest, IsTheProductOfIntegers) {
  for (const ElementType activations : {ElementType::kUint8, ElementType::kInt8}) {
    SimulatedForTest g(activations);
    g.Output(g.Op("y", "MatMul", {g.x, g.Weights(false)}, Shape{2, 3}));
    const ir::Graph before = g.graph;
    const std::string type(activations == ElementType::kUint8 ? "uint8" : "int8");
    EXPECT_EQ(g.After("lower_quantized_matmul"),
              "  q = QuantizeLinear(x, s, p) : " + type +
                  "[2, 5]\n"
                  "  y = IntegerMatMul(q, y_node_weights, y_node_x_point, -, y_node_scales)"
                  " : float32[2, 3]\n"
                  "  return y\n");
    EXPECT_LE(LargestDifference(before, g.graph), kRounding);
  }
}

TEST(LowerQuantizedMatMulTest, TakesTransposedWeightsFactorsAndBiasOfGemm) {
  SimulatedForTest g;
  const auto bias = g.Constant("b", Shape{3}, {1, -2, 3});
  g.Output(g.Op("y", "Gemm", {g.x, g.Weights(true), bias}, Shape{2, 3},
                {{"transB", std::int64_t{1}}, {"alpha", 0.5F}, {"beta", 2.0F}}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("lower_quantized_matmul"),
            "  q = QuantizeLinear(x, s, p) : uint8[2, 5]\n"
            "  y = IntegerMatMul(q, y_node_weights, y_node_x_point, -, y_node_scales, y_node_bias)"
            " : float32[2, 3]\n"
            "  return y\n");
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
}

TEST(LowerQuantizedMatMulTest, ResultsAreQuantisedInTheProduct) {
  SimulatedForTest g;
  const auto floats = g.Op("f", "MatMul", {g.x, g.Weights(false)}, Shape{2, 3});
  const auto biased =
      g.Op("b", "Add", {floats, g.Constant("c", Shape{3}, {0.1, 0.2, 0.3})}, Shape{2, 3});
  const auto relu = g.Op("r", "Relu", {biased}, Shape{2, 3});
  const auto point = g.Constant("z", TensorType{ElementType::kUint8, {}}, {0});
  g.Output(g.Op("y", "QuantizeLinear", {relu, g.Constant("t", Shape{}, {0.0073}), point},
                TensorType{ElementType::kUint8, {2, 3}}));
  const ir::Graph before = g.graph;
  g.After("lower_quantized_matmul");
  EXPECT_EQ(g.After("lower_to_integer_matmul"),
            "  q = QuantizeLinear(x, s, p) : uint8[2, 5]\n"
            "  y = IntegerMatMul(q, f_node_weights, f_node_x_point, -, f_node_scales, c)"
            " y_point=0 y_scale=0.0073 : uint8[2, 3]\n"
            "  return y\n");
  EXPECT_LE(LargestDifference(before, g.graph), 1);
}

TEST(LowerQuantizedMatMulTest, LeavesWhatItIsNot) {
  const auto stays = [](SimulatedForTest g, const std::string& op, ir::ValueId a, ir::ValueId w,
                        const Attributes& attributes) {
    g.Output(g.Op("y", op, {a, w}, Shape{2, 3}, attributes));
    const std::string before = g.Text();
    EXPECT_EQ(g.After("lower_quantized_matmul"), before);
  };
  SimulatedForTest g;
  const auto weights = g.Weights(false);
  stays(g, "MatMul", g.x, g.Input("v", {5, 3}), {});
  stays(g, "MatMul", g.Input("z", {2, 5}), weights, {});
  std::vector<double> sines(15);
  for (std::size_t i = 0; i < sines.size(); ++i) sines[i] = std::sin(static_cast<double>(i + 1));
  stays(g, "MatMul", g.x, g.Constant("u", Shape{5, 3}, sines), {});
  const auto columns = g.Op("t", "Transpose", {g.x}, Shape{5, 2});
  stays(g, "Gemm", columns, weights, {{"transA", std::int64_t{1}}});
}

}  // namespace
}  // namespace poprt::passes
