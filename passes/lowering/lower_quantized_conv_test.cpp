#include "passes/lowering/lower_quantized_conv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

/// A convolution with simulated quantisation of 16 channels, 3x3, [1, 16, 6, 7].
struct SimulatedConv {
  ElementType activations = ElementType::kUint8;
  double x_point = 117;
  double y_point = 0;
  double y_scale = 0.02;
  std::string activation = "Relu";
  double high = 6;  ///< of a Clip
  std::int64_t group = 1;
  std::int64_t outs = 24;
  bool quantised_weights = true;
  bool biased = true;
  bool has_zero_channel = false;
  bool has_other_reader = false;  ///< of the quantised activations
};

class Simulated : public GraphForTest {
 public:
  explicit Simulated(const SimulatedConv& with) {
    const TensorType bytes{with.activations, {1, 16, 6, 7}};
    const TensorType point{with.activations, {}};
    const auto x_scale = Scalar(0.03);
    const auto x_point = Constant("x_point", point, {with.x_point});
    const auto xq = Op("xq", "QuantizeLinear", {Input("x", bytes.shape), x_scale, x_point}, bytes);
    const auto x = Op("xd", "DequantizeLinear", {xq, x_scale, x_point}, bytes.shape);
    const Shape w{with.outs, 16 / with.group, 3, 3};
    const std::int64_t products = w[1] * 9;
    std::vector<double> weights;
    for (std::int64_t i = 0; i < ElementCount(w); ++i) {
      // As DequantizeLinear multiplies.
      const float scale = 0.004F + 0.001F * static_cast<float>(i / products % 5);
      const float weight = scale * static_cast<float>(i * 37 % 255 - 127);
      const bool is_zero = with.has_zero_channel && i / products == 1;
      weights.push_back(
          is_zero ? 0.0 : static_cast<double>(with.quantised_weights ? weight : std::sin(weight)));
    }
    std::vector<ir::ValueId> inputs{x, Constant("w", w, weights)};
    if (with.biased) {
      std::vector<double> bias;
      for (std::int64_t o = 0; o < with.outs; ++o) bias.push_back(0.1 * static_cast<double>(o) - 1);
      inputs.push_back(Constant("b", Shape{with.outs}, bias));
    }
    const Shape result{1, with.outs, 6, 7};
    auto y =
        Op("conv", "Conv", inputs, result, {{"group", with.group}, {"pads", Ints{1, 1, 1, 1}}});
    if (with.activation == "Relu") y = Op("relu", "Relu", {y}, result);
    if (with.activation == "Clip") {
      y = Op("clip", "Clip", {y, Scalar(0), Scalar(with.high)}, result);
    }
    const auto y_scale = Scalar(with.y_scale);
    const auto y_point = Constant("y_point", point, {with.y_point});
    const auto yq =
        Op("yq", "QuantizeLinear", {y, y_scale, y_point}, TensorType{with.activations, result});
    Output(Op("y", "DequantizeLinear", {yq, y_scale, y_point}, result));
    if (with.has_other_reader) Output(Op("other", "Identity", {xq}, bytes));
  }

  /// The operators after the pass; the result may differ by one step where it is halfway.
  std::string Lowered(double step) {
    const ir::Graph before = graph;
    After("lower_quantized_conv");
    EXPECT_EQ(ir::Verify(graph), std::nullopt);
    EXPECT_LE(LargestDifference(before, graph), 1.01 * step);
    std::string text;
    for (const ir::Node& node : graph.nodes) text += (text.empty() ? "" : " ") + node.op;
    return text;
  }
};

std::string Lowered(const SimulatedConv& with) { return Simulated(with).Lowered(with.y_scale); }

const char* const kIntegers = "QuantizeLinear QLinearConv DequantizeLinear";

TEST(LowerQuantizedConvTest, IsTheConvolutionOfIntegers) {
  EXPECT_EQ(Lowered({}), kIntegers);
  EXPECT_EQ(Lowered({.activation = "", .biased = false}), kIntegers);
  EXPECT_EQ(Lowered({.y_point = 128, .activation = ""}), kIntegers);
  EXPECT_EQ(Lowered({.group = 16, .outs = 16}), kIntegers);
  EXPECT_EQ(Lowered({.y_scale = 6.0 / 255, .activation = "Clip"}), kIntegers);
}

TEST(LowerQuantizedConvTest, SignedActivationsBecomeUnsigned) {
  SimulatedConv with{.activations = ElementType::kInt8, .x_point = -5, .y_point = -128};
  EXPECT_EQ(Lowered(with), kIntegers);
  with.y_point = 3;
  with.activation = "";
  Simulated g(with);
  EXPECT_EQ(g.Lowered(with.y_scale), kIntegers);
  for (const ir::Node& node : g.graph.nodes) {
    if (node.op == "QLinearConv") {
      EXPECT_EQ(g.graph.type(node.outputs[0]).element, ElementType::kUint8);
    }
  }
}

TEST(LowerQuantizedConvTest, BiasesOfChannelsOfZerosStay) {
  EXPECT_EQ(Lowered({.y_point = 100, .activation = "", .has_zero_channel = true}), kIntegers);
}

TEST(LowerQuantizedConvTest, WhatOthersReadStaysSigned) {
  Simulated g({.activations = ElementType::kInt8, .y_point = -128, .has_other_reader = true});
  g.After("lower_quantized_conv");
  EXPECT_EQ(g.graph.type(g.graph.nodes[0].outputs[0]).element, ElementType::kInt8);
}

TEST(LowerQuantizedConvTest, LeavesWhatItIsNot) {
  const auto unchanged = [](const SimulatedConv& with) {
    Simulated g(with);
    const std::string before = g.Text();
    return g.After("lower_quantized_conv") == before;
  };
  EXPECT_FALSE(unchanged({}));
  EXPECT_TRUE(unchanged({.y_point = 3})) << "Relu cuts off more";
  EXPECT_TRUE(unchanged({.activation = "Clip", .high = 3})) << "Clip cuts off more";
  EXPECT_TRUE(unchanged({.quantised_weights = false}));
  EXPECT_TRUE(unchanged({.group = 2})) << "no form in blocks";
  EXPECT_TRUE(unchanged({.outs = 7})) << "few results";
}

}  // namespace
}  // namespace poprt::passes
