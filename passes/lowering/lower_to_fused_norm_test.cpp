#include <gtest/gtest.h>

#include <string>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

constexpr double kRounding = 1e-5;
constexpr std::int64_t kLast = -1;

/// y = norm(a + b), as `op`.
GraphForTest AddAndNorm(const std::string& op, std::int64_t axis = kLast, const Shape& b = {3, 4}) {
  GraphForTest g;
  const auto sum = g.Op("s", "Add", {g.Input("a", {3, 4}), g.Input("b", b)}, {3, 4});
  std::vector<ir::ValueId> inputs = {sum, g.Constant("g", {4}, {1, 2, 3, 4})};
  if (op == "LayerNormalization") inputs.push_back(g.Constant("c", {4}, {4, 3, 2, 1}));
  g.Output(g.Op("y", op, inputs, {3, 4}, {{"axis", axis}, {"epsilon", 0.5F}}));
  return g;
}

TEST(LowerToFusedNormTest, AddsInsideTheNormalization) {
  GraphForTest layer = AddAndNorm("LayerNormalization");
  ir::Graph before = layer.graph;
  EXPECT_EQ(layer.After("lower_to_fused_norm"),
            "  y = FusedNorm(a, g, c, b) epsilon=0.5 rms=0 : float32[3, 4]\n  return y\n");
  EXPECT_LE(LargestDifference(before, layer.graph), kRounding);

  GraphForTest rms = AddAndNorm("RMSNormalization", 1);
  before = rms.graph;
  EXPECT_EQ(rms.After("lower_to_fused_norm"),
            "  y = FusedNorm(a, g, -, b) epsilon=0.5 rms=1 : float32[3, 4]\n  return y\n");
  EXPECT_LE(LargestDifference(before, rms.graph), kRounding);
}

TEST(LowerToFusedNormTest, GivesTheSumToWhatElseReadsIt) {
  GraphForTest g = AddAndNorm("LayerNormalization");
  const auto sum = g.graph.nodes[0].outputs[0];
  g.Output(g.Op("z", "Add", {sum, g.graph.outputs[0]}, {3, 4}));
  g.Output(sum);
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("lower_to_fused_norm"),
            "  y, s = FusedNorm(a, g, c, b) epsilon=0.5 rms=0 : float32[3, 4]\n"
            "  z = Add(s, y) : float32[3, 4]\n"
            "  return y, z, s\n");
  EXPECT_LE(LargestDifference(before, g.graph), kRounding);
}

TEST(LowerToFusedNormTest, LeavesOtherAxesParametersAndTypes) {
  GraphForTest first_axis = AddAndNorm("LayerNormalization", 0);
  GraphForTest scalar = AddAndNorm("LayerNormalization");
  scalar.graph.nodes[1].inputs[1] = scalar.Scalar(2);
  GraphForTest bfloat(ElementType::kBFloat16);
  bfloat.Output(bfloat.Op("y", "LayerNormalization",
                          {bfloat.Input("x", {3, 4}), bfloat.Constant("g", {4}, {1, 2, 3, 4})},
                          {3, 4}, {{"axis", kLast}}));
  for (GraphForTest* g : {&first_axis, &scalar, &bfloat}) {
    const std::string before = g->Text();
    EXPECT_EQ(g->After("lower_to_fused_norm"), before);
  }
}

TEST(LowerToFusedNormTest, TakesFloat16) {
  GraphForTest g(ElementType::kFloat16);
  g.Output(g.Op("y", "LayerNormalization",
                {g.Input("x", {3, 4}), g.Constant("g", {4}, {1, 2, 3, 4})}, {3, 4},
                {{"axis", kLast}}));
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("lower_to_fused_norm"),
            "  y = FusedNorm(x, g) epsilon=1e-05 rms=0 : float16[3, 4]\n"
            "  return y\n");
  EXPECT_LE(LargestDifference(before, g.graph), 0x1p-9);
}

TEST(LowerToFusedNormTest, LeavesAddsThatBroadcast) {
  GraphForTest g = AddAndNorm("LayerNormalization", kLast, {4});
  EXPECT_EQ(g.After("lower_to_fused_norm"),
            "  s = Add(a, b) : float32[3, 4]\n"
            "  y = FusedNorm(s, g, c) epsilon=0.5 rms=0 : float32[3, 4]\n"
            "  return y\n");
}

TEST(LowerToFusedNormTest, LeavesSumsThatAreReadBefore) {
  GraphForTest g = AddAndNorm("LayerNormalization");
  const auto sum = g.graph.nodes[0].outputs[0];
  g.Output(g.Op("z", "Relu", {sum}, {3, 4}));
  std::swap(g.graph.nodes[1], g.graph.nodes[2]);
  EXPECT_EQ(g.After("lower_to_fused_norm"),
            "  s = Add(a, b) : float32[3, 4]\n"
            "  z = Relu(s) : float32[3, 4]\n"
            "  y = FusedNorm(s, g, c) epsilon=0.5 rms=0 : float32[3, 4]\n"
            "  return y, z\n");
}

}  // namespace
}  // namespace poprt::passes
