// What becomes of where nodes run when passes change them.
#include "compiler/ir/placement.hpp"

#include <gtest/gtest.h>

#include "passes/rewrite.hpp"

namespace poprt::passes {
namespace {

const TensorType kVector{ElementType::kFloat32, {2}};

ir::Graph Square(const ir::Placement& placement) {
  ir::Graph graph;
  graph.name = "m";
  graph.inputs = {graph.AddValue("x", kVector)};
  graph.nodes = {graph.MakeNode("Square", {graph.inputs[0]}, kVector, {}, "square")};
  ir::SetPlacement(graph.nodes[0].attributes, placement);
  graph.outputs = graph.nodes[0].outputs;
  graph.output_names = {"y"};
  return graph;
}

/// Square(x) as Abs(x) times Abs(x), all attributes new.
bool SquareAsMul(Rewriter& rewriter, ir::Node& node) {
  if (node.op != "Square") return false;
  const ir::ValueId x = node.inputs[0];
  const ir::ValueId abs =
      rewriter.Insert(rewriter.graph().MakeNode("Abs", {x}, kVector, {}, "abs"));
  node.op = "Mul";
  node.inputs = {abs, abs};
  node.attributes = {};
  return true;
}

TEST(PlacementTest, WhatIsMadeOfANodeRunsWhereItRan) {
  const ir::Placement placement{.ipu = 2, .stage = 1};
  ir::Graph graph = Square(placement);
  ASSERT_TRUE(Rewrite(graph, SquareAsMul));
  ASSERT_EQ(graph.nodes.size(), 2U);
  for (const ir::Node& node : graph.nodes) {
    EXPECT_EQ(ir::PlacementOf(node.attributes), placement) << node.op;
  }
}

TEST(PlacementTest, WhatSaysNothingStaysSo) {
  ir::Graph graph = Square({});
  ASSERT_TRUE(Rewrite(graph, SquareAsMul));
  for (const ir::Node& node : graph.nodes) EXPECT_EQ(node.attributes, Attributes()) << node.op;
}

}  // namespace
}  // namespace poprt::passes
