#include <gtest/gtest.h>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

/// fuse_bn_into_conv, fuse_bn_into_gemm and replace_bn_with_mul_add.
namespace poprt::passes {
namespace {

ir::ValueId BatchNorm(GraphForTest& g, ir::ValueId x, Shape shape) {
  const auto scale = g.Constant("scale", {2}, {0.5, 2});
  const auto bias = g.Constant("bias", {2}, {1, -1});
  const auto mean = g.Constant("mean", {2}, {0.25, -3});
  const auto var = g.Constant("var", {2}, {4, 0.5});
  return g.Op("y", "BatchNormalization", {x, scale, bias, mean, var}, std::move(shape),
              {{"epsilon", 0.125F}});
}

GraphForTest ConvAndBatchNorm(bool with_bias) {
  GraphForTest g;
  std::vector<ir::ValueId> inputs = {g.Input("x", {1, 1, 2, 2}),
                                     g.Constant("w", {2, 1, 1, 1}, {1.5, -2})};
  if (with_bias) inputs.push_back(g.Constant("b", {2}, {3, 4}));
  const auto conv = g.Op("conv", "Conv", inputs, {1, 2, 2, 2}, {{"group", std::int64_t{1}}});
  g.Output(BatchNorm(g, conv, {1, 2, 2, 2}));
  return g;
}

TEST(FuseBnIntoConvTest, ChangesWeightsAndBias) {
  for (const bool with_bias : {false, true}) {
    GraphForTest g = ConvAndBatchNorm(with_bias);
    const ir::Graph before = g.graph;
    EXPECT_EQ(g.After("fuse_bn_into_conv"),
              "  y = Conv(x, conv_node_weights, conv_node_bias) group=1 : float32[1, 2, 2, 2]\n"
              "  return y\n");
    EXPECT_LE(LargestDifference(before, g.graph), 1e-5);
  }
}

TEST(FuseBnIntoConvTest, TakesFactorsAndTermsOfChannels) {
  GraphForTest g;
  const auto conv =
      g.Op("conv", "Conv", {g.Input("x", {1, 1, 2, 2}), g.Constant("w", {2, 1, 1, 1}, {1.5, -2})},
           {1, 2, 2, 2});
  const auto scaled = g.Op("s", "Mul", {conv, g.Constant("f", {2, 1, 1}, {3, 0.5})}, {1, 2, 2, 2});
  g.Output(g.Op("y", "Add", {g.Constant("t", {1, 2, 1, 1}, {1, -1}), scaled}, {1, 2, 2, 2}));
  const ir::Graph before = g.graph;
  g.After("fuse_bn_into_conv");
  EXPECT_EQ(g.graph.nodes.size(), 1U);
  EXPECT_LE(LargestDifference(before, g.graph), 1e-5);
}

TEST(FuseBnIntoConvTest, TakesConvTransposeOfAnyGroup) {
  for (const std::int64_t group : {1, 2}) {
    GraphForTest g;
    const std::int64_t outputs = 2 / group;
    std::vector<double> weights;
    for (std::int64_t i = 0; i < 16 * outputs; ++i) weights.push_back(static_cast<double>(i) / 8);
    const auto w = g.Constant("w", Shape{4, outputs, 2, 2}, weights);
    const auto conv = g.Op("conv", "ConvTranspose", {g.Input("x", {1, 4, 2, 2}), w}, {1, 2, 4, 4},
                           {{"group", group}, {"strides", Ints{2, 2}}});
    g.Output(BatchNorm(g, conv, {1, 2, 4, 4}));
    const ir::Graph before = g.graph;
    EXPECT_NE(g.After("fuse_bn_into_conv").find("y = ConvTranspose(x, conv_node_weights"),
              std::string::npos);
    EXPECT_EQ(g.graph.nodes.size(), 1U);
    EXPECT_LE(LargestDifference(before, g.graph), 1e-5);
  }
}

TEST(FuseBnIntoConvTest, LeavesAConvWithOtherUses) {
  GraphForTest g = ConvAndBatchNorm(false);
  g.Output(g.graph.nodes[0].outputs[0]);
  const std::string before = g.Text();
  EXPECT_EQ(g.After("fuse_bn_into_conv"), before);
}

TEST(FuseBnIntoConvTest, LeavesRunTimeWeights) {
  GraphForTest g;
  const auto conv =
      g.Op("conv", "Conv", {g.Input("x", {1, 1, 2, 2}), g.Input("w", {2, 1, 1, 1})}, {1, 2, 2, 2});
  g.Output(BatchNorm(g, conv, {1, 2, 2, 2}));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("fuse_bn_into_conv"), before);
}

TEST(FuseBnIntoGemmTest, ChangesWeightsAndBiasInEitherLayout) {
  for (const std::int64_t trans_b : {0, 1}) {
    GraphForTest g;
    const Shape shape = trans_b != 0 ? Shape{2, 3} : Shape{3, 2};
    const auto gemm = g.Op("gemm", "Gemm",
                           {g.Input("x", {4, 3}), g.Constant("w", shape, {1, 2, 3, 4, 5, 6}),
                            g.Constant("c", {2}, {1, 2})},
                           {4, 2}, {{"alpha", 0.5F}, {"beta", 2.0F}, {"transB", trans_b}});
    g.Output(BatchNorm(g, gemm, {4, 2}));
    const ir::Graph before = g.graph;
    EXPECT_EQ(g.After("fuse_bn_into_gemm"),
              "  y = Gemm(x, gemm_node_weights, gemm_node_bias) transB=" + std::to_string(trans_b) +
                  " : float32[4, 2]\n  return y\n");
    EXPECT_LE(LargestDifference(before, g.graph), 1e-5);
  }
}

TEST(FuseBnIntoGemmTest, LeavesABiasForEachRow) {
  GraphForTest g;
  const auto gemm = g.Op("gemm", "Gemm",
                         {g.Input("x", {4, 3}), g.Constant("w", {3, 2}, {1, 2, 3, 4, 5, 6}),
                          g.Constant("c", {4, 1}, {1, 2, 3, 4})},
                         {4, 2});
  g.Output(BatchNorm(g, gemm, {4, 2}));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("fuse_bn_into_gemm"), before);
}

TEST(ReplaceBnWithMulAddTest, WritesOneFactorAndSummandForEachChannel) {
  GraphForTest g;
  g.Output(BatchNorm(g, g.Input("x", {1, 2, 3}), {1, 2, 3}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("replace_bn_with_mul_add"),
            "  y_node_mul:0 = Mul(x, y_node_scale) : float32[1, 2, 3]\n"
            "  y = Add(y_node_mul:0, y_node_shift) : float32[1, 2, 3]\n"
            "  return y\n");
  EXPECT_LE(LargestDifference(before, g.graph), 1e-5);
}

TEST(ReplaceBnWithMulAddTest, LeavesRunTimeStatistics) {
  GraphForTest g;
  const auto p = g.Constant("p", {2}, {1, 2});
  const auto mean = g.Input("mean", {2});
  g.Output(g.Op("y", "BatchNormalization", {g.Input("x", {1, 2}), p, p, mean, p}, {1, 2}));
  const std::string before = g.Text();
  EXPECT_EQ(g.After("replace_bn_with_mul_add"), before);
}

}  // namespace
}  // namespace poprt::passes
