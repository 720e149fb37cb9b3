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

/// SmallGraph with a second output, neg(x), of whose axis 0 as much is there as `count` says.
Graph OpenGraph() {
  Graph graph = SmallGraph();
  graph.outputs.push_back(graph.nodes[2].outputs[0]);
  graph.output_names.emplace_back("open");
  const TensorType scalar{ElementType::kInt64, {}};
  graph.nodes.push_back(graph.MakeNode("Size", {graph.inputs[0]}, scalar, {}, "count"));
  graph.extents = {{.output = 1, .axis = 0, .count = graph.nodes[3].outputs[0]}};
  return graph;
}

TEST(GraphTest, CountsOfOutputsAreUsed) {
  Graph graph = OpenGraph();
  EXPECT_TRUE(Uses(graph).is_output(graph.extents[0].count));
  EXPECT_EQ(graph.Compact(), 0);
  EXPECT_EQ(Verify(graph), std::nullopt);
  EXPECT_EQ(ToString(graph),
            "graph small(x)\n"
            "  relu:0 = Relu(x) : float32[2]\n"
            "  exp:0 = Exp(relu:0) : float32[2]\n"
            "  neg:0 = Neg(x) : float32[2]\n"
            "  count:0 = Size(x) : int64[]\n"
            "  return exp:0, neg:0\n"
            "  output 1 axis 0 up to count:0\n");
  const ValueId two = graph.AddConstant("two", Tensor({ElementType::kInt32, {}}));
  graph.ReplaceUses(graph.extents[0].count, two);
  EXPECT_EQ(graph.Compact(), 1);
  EXPECT_TRUE(graph.value(graph.extents[0].count).is_constant());
  EXPECT_EQ(Verify(graph), std::nullopt);
}

TEST(GraphTest, SelectOutputsMovesTheirExtents) {
  Graph graph = OpenGraph();
  graph.SelectOutputs({1, 0, 1});
  EXPECT_EQ(graph.output_names, (std::vector<std::string>{"open", "z", "open"}));
  ASSERT_EQ(graph.extents.size(), 2U);
  EXPECT_EQ(graph.extents[0].output, 0U);
  EXPECT_EQ(graph.extents[1].output, 2U);
  EXPECT_EQ(Verify(graph), std::nullopt);
  graph.SelectOutputs({1});
  EXPECT_TRUE(graph.extents.empty());
  EXPECT_EQ(graph.Compact(), 2);
}

TEST(GraphTest, VerifyFindsWrongExtents) {
  const auto problem = [](const OutputExtent& extent) {
    Graph graph = OpenGraph();
    graph.extents = {extent};
    return Verify(graph).value_or("");
  };
  const ValueId count = OpenGraph().extents[0].count;
  EXPECT_EQ(problem({2, 0, count}), "graph 'small': extent of output 2: there is no such output");
  EXPECT_EQ(problem({1, 1, count}), "graph 'small': extent of output 1: there is no axis 1");
  EXPECT_EQ(problem({1, 0, 0}),
            "graph 'small': extent of output 1: value 'x' is float32[2], not a scalar of int32 or "
            "int64");
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
