#include "passes/lowering/widen_half_images.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

namespace poprt::passes {
namespace {

/// Pointwise convolutions of [1, 2, 2, 2], one after the other.
GraphForTest Convolutions(ElementType element, int count) {
  GraphForTest g(element);
  auto value = g.Input("x", {1, 2, 2, 2});
  const auto w = g.Constant("w", {2, 2, 1, 1}, {1, 0.5, -0.25, 2});
  for (int i = 0; i < count; ++i) {
    value = g.Op("c" + std::to_string(i), "FusedConv", {value, w}, {1, 2, 2, 2});
  }
  g.Output(value);
  return g;
}

TEST(WidenHalfImagesTest, ResultsAreRoundedAndTypesOfInputsAndOutputsStay) {
  GraphForTest g = Convolutions(ElementType::kFloat16, 2);
  const ir::Graph before = g.graph;
  EXPECT_EQ(g.After("widen_half_images"),
            "  x_float16 = Cast(x) to=1 : float32[1, 2, 2, 2]\n"
            "  c0 = FusedConv(x_float16, w) : float32[1, 2, 2, 2]\n"
            "  c0_rounded:0 = RoundHalf(c0) : float32[1, 2, 2, 2]\n"
            "  c1 = FusedConv(c0_rounded:0, w) : float32[1, 2, 2, 2]\n"
            "  c1_rounded:0 = RoundHalf(c1) : float32[1, 2, 2, 2]\n"
            "  c1_float16 = Cast(c1_rounded:0) to=10 : float16[1, 2, 2, 2]\n"
            "  return c1_float16\n");
  const ir::Value& input = g.graph.value(g.graph.inputs[0]);
  EXPECT_EQ(input.name, "x");
  EXPECT_EQ(input.type.element, ElementType::kFloat16);
  g.After("fuse_elementwise_chain");  // which makes rounding a kernel
  EXPECT_EQ(LargestDifference(before, g.graph), 0);
}

TEST(WidenHalfImagesTest, InputsThatTheModelItselfRoundsKeepTheirNames) {
  GraphForTest g(ElementType::kFloat16);
  const auto image = g.Input("image", {1, 2, 2, 2});
  g.graph.value(image).type.element = ElementType::kFloat32;
  const auto w = g.Constant("w", {2, 2, 1, 1}, {1, 0.5, -0.25, 2});
  const auto half = g.Op("half", "Cast", {image}, {1, 2, 2, 2}, {{"to", std::int64_t{10}}});
  const auto first = g.Op("c0", "FusedConv", {half, w}, {1, 2, 2, 2});
  g.Output(g.Op("c1", "FusedConv", {first, w}, {1, 2, 2, 2}));
  const ir::Graph before = g.graph;
  g.After("widen_half_images");
  EXPECT_EQ(g.graph.value(image).name, "image");
  g.After("fuse_elementwise_chain");
  EXPECT_EQ(LargestDifference(before, g.graph), 0);
}

TEST(WidenHalfImagesTest, WhatMovesOrChoosesIsNotRounded) {
  GraphForTest g = Convolutions(ElementType::kFloat16, 2);
  const auto relu = g.Op("r", "Relu", {g.graph.outputs[0]}, {1, 2, 2, 2});
  const auto sum = g.Op("s", "Add", {relu, g.graph.outputs[0]}, {1, 2, 2, 2});
  g.Output(g.Op("z", "Sigmoid", {sum}, {1, 2, 2, 2}));
  g.After("widen_half_images");
  std::vector<std::string> ops;
  for (const ir::Node& node : g.graph.nodes) ops.emplace_back(node.op);
  EXPECT_EQ(ops, (std::vector<std::string>{"Cast", "FusedConv", "RoundHalf", "FusedConv",
                                           "RoundHalf", "Relu", "Add", "RoundHalf", "Sigmoid",
                                           "RoundHalf", "Cast", "Cast"}));
}

TEST(WidenHalfImagesTest, LeavesFloatsAndSingleConvolutions) {
  for (const auto& [element, count] :
       {std::pair{ElementType::kFloat32, 3}, std::pair{ElementType::kFloat16, 1}}) {
    GraphForTest g = Convolutions(element, count);
    const std::string before = g.Text();
    EXPECT_EQ(g.After("widen_half_images"), before);
  }
}

}  // namespace
}  // namespace poprt::passes
