#include "compiler/ir/graph.hpp"

#include <gtest/gtest.h>

namespace poprt::ir {
namespace {

const TensorType kVector{ElementType::kFloat32, {2}};

/// relu(x) -> y, exp(y) -> z, neg(x) -> unused; returns z.
Graph SmallGraph() {
  Graph graph;
  graph.name = "small";
  const ValueId x = graph.AddValue("x", kVector);
  graph.inputs = {x};
  graph.nodes.push_back(graph.MakeNode("Relu", {x}, kVector, {}, "relu"));
  graph.nodes.push_back(graph.MakeNode("Exp", {graph.nodes[0].outputs[0]}, kVector, {}, "exp"));
  graph.nodes.push_back(graph.MakeNode("Neg", {x}, kVector, {}, "neg"));
  graph.outputs = {graph.nodes[1].outputs[0]};
  graph.output_names = {"z"};
  return graph;
}

TEST(GraphTest, MakesNamesUnique) {
  Graph graph = SmallGraph();
  EXPECT_EQ(graph.value(graph.AddValue("x", kVector)).name, "x_1");
  EXPECT_EQ(graph.value(graph.AddValue("", kVector)).name, "unnamed");
}

TEST(GraphTest, CompactDropsWhatNobodyUses) {
  Graph graph = SmallGraph();
  EXPECT_EQ(graph.Compact(), 1);
  EXPECT_EQ(ToString(graph),
            "graph small(x)\n"
            "  relu:0 = Relu(x) : float32[2]\n"
            "  exp:0 = Exp(relu:0) : float32[2]\n"
            "  return exp:0\n");
  EXPECT_EQ(Verify(graph), std::nullopt);
}

TEST(GraphTest, CompactKeepsUnusedInputs) {
  Graph graph = SmallGraph();
  graph.ReplaceUses(graph.outputs[0], graph.AddConstant("c", Tensor(kVector)));
  EXPECT_EQ(graph.Compact(), 3);
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "x");
  EXPECT_TRUE(graph.value(graph.outputs[0]).is_constant());
}

TEST(GraphTest, UsesCountsNodesAndOutputs) {
  const Graph graph = SmallGraph();
  const Uses uses(graph);
  EXPECT_EQ(uses.count(graph.inputs[0]), 2);
  EXPECT_EQ(uses.consumers(graph.inputs[0]), (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(uses.producer(graph.outputs[0]), 1);
  EXPECT_TRUE(uses.is_output(graph.outputs[0]));
  EXPECT_EQ(uses.producer(graph.inputs[0]), -1);
}

TEST(GraphTest, VerifyFindsUseBeforeDefinition) {
  Graph graph = SmallGraph();
  std::swap(graph.nodes[0], graph.nodes[1]);
  EXPECT_EQ(Verify(graph),
            "graph 'small': node 'exp': value 'relu:0' is used before it is defined");
}

TEST(GraphTest, VerifyFindsConstantOfWrongType) {
  Graph graph = SmallGraph();
  const ValueId c = graph.AddConstant("c", Tensor(kVector));
  graph.value(c).type.shape = {3};
  EXPECT_EQ(Verify(graph),
            "graph 'small': constant 'c' is declared as float32[3] but holds float32[2]");
}

}  // namespace
}  // namespace poprt::ir
