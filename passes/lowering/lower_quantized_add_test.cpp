#include "passes/lowering/lower_quantized_add.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

struct Sum {
  double y_point = 0;
  const char* activation = "Relu";  ///< null: none
  ElementType right = ElementType::kUint8;
  Shape right_shape = {2, 300};
};

class SumForTest : public GraphForTest {
 public:
  explicit SumForTest(const Sum& with) {
    const Shape shape{2, 300};
    const TensorType bytes{ElementType::kUint8, shape};
    const auto point = [&](ElementType element, double value) {
      return Constant("point", TensorType{element, {}}, {value});
    };
    const auto a = Op("a", "DequantizeLinear",
                      {Input("x", bytes), Scalar(0.5), point(ElementType::kUint8, 1)}, shape);
    const auto b = Op(
        "b", "DequantizeLinear",
        {Input("z", TensorType{with.right, with.right_shape}), Scalar(0.25), point(with.right, 0)},
        with.right_shape);
    auto sum = Op("sum", "Add", {a, b}, shape);
    if (with.activation != nullptr) sum = Op("act", with.activation, {sum}, shape);
    Output(Op("y", "QuantizeLinear", {sum, Scalar(0.125), point(ElementType::kUint8, with.y_point)},
              bytes));
  }
};

TEST(LowerQuantizedAddTest, IsOneStepWithTheSameBits) {
  for (const char* activation : {"Relu", static_cast<const char*>(nullptr)}) {
    SumForTest g({.activation = activation});
    const ir::Graph before = g.graph;
    EXPECT_EQ(g.After("lower_quantized_add"),
              "  y = ByteAdd(x, z) a_point=1 a_scale=0.5 b_point=0 b_scale=0.25 y_point=0 "
              "y_scale=0.125 : uint8[2, 300]\n"
              "  return y\n");
    EXPECT_EQ(LargestDifference(before, g.graph), 0);
  }
}

/// What a Clip cuts off halfway between two steps is rounded by the point's parity.
TEST(LowerQuantizedAddTest, ClipsOfHalfAStepAreLeft) {
  for (const auto& [low, high, point, is_lowered] :
       {std::tuple{0.0, 255 / 8.0, 0.0, true}, std::tuple{0.0, 254.5 / 8, 0.0, false},
        std::tuple{-0.5 / 8, 100.0, 1.0, false}}) {
    GraphForTest g;
    const TensorType bytes{ElementType::kUint8, {4}};
    const auto p = g.Constant("p", TensorType{ElementType::kUint8, {}}, {0});
    const auto q = g.Constant("q", TensorType{ElementType::kUint8, {}}, {point});
    const auto a = g.Op("a", "DequantizeLinear", {g.Input("x", bytes), g.Scalar(0.5), p}, {4});
    const auto sum = g.Op("sum", "Add", {a, a}, {4});
    const auto clip = g.Op("clip", "Clip", {sum, g.Scalar(low), g.Scalar(high)}, {4});
    g.Output(g.Op("y", "QuantizeLinear", {clip, g.Scalar(1.0 / 8), q}, bytes));
    const std::string text = g.After("lower_quantized_add");
    EXPECT_EQ(text.find("ByteAdd") != std::string::npos, is_lowered) << low << ' ' << high;
  }
}

TEST(LowerQuantizedAddTest, LeavesWhatItIsNot) {
  const auto unchanged = [](const Sum& with) {
    SumForTest g(with);
    const std::string before = g.Text();
    return g.After("lower_quantized_add") == before;
  };
  EXPECT_FALSE(unchanged({}));
  EXPECT_TRUE(unchanged({.y_point = 3})) << "Relu cuts off more";
  EXPECT_TRUE(unchanged({.activation = "Tanh"}));
  EXPECT_TRUE(unchanged({.right = ElementType::kInt8}));
  EXPECT_TRUE(unchanged({.right_shape = {1, 300}})) << "repeated";
}

}  // namespace
}  // namespace poprt::passes
