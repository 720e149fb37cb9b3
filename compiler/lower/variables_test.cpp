#include "compiler/lower/variables.hpp"

#include <gtest/gtest.h>

#include "compiler/lower/lower.hpp"

namespace poprt::lower {
namespace {

const TensorType kMatrix{ElementType::kFloat32, {2, 3}};

Tensor Floats(const Shape& shape, const std::vector<float>& values) {
  return Tensor::Of<float>(ElementType::kFloat32, shape, values);
}

std::vector<std::string> NamesOf(const std::vector<Weight>& weights) {
  std::vector<std::string> names;
  for (const Weight& weight : weights) names.push_back(weight.name);
  return names;
}

std::vector<std::string> InputsOf(const ir::Graph& graph) {
  std::vector<std::string> names;
  for (const ir::ValueId id : graph.inputs) names.push_back(graph.value(id).name);
  return names;
}

ir::ValueId AddNode(ir::Graph& graph, const std::string& op, const std::vector<ir::ValueId>& inputs,
                    const TensorType& type) {
  graph.nodes.push_back(graph.MakeNode(op, inputs, type, {}, op));
  return graph.nodes.back().outputs[0];
}

TEST(VariablesTest, TakesFloatsThatNodesRead) {
  ir::Graph graph;
  graph.name = "model";
  graph.inputs = {graph.AddValue("x", kMatrix)};
  const ir::ValueId scalar = graph.AddConstant("scalar", Floats({}, {2}));
  const ir::ValueId w = graph.AddConstant("w", Floats({3}, {1, 2, 3}));
  const ir::ValueId index = graph.AddConstant("index", Tensor({ElementType::kInt64, {1}}));
  graph.AddConstant("unused", Floats({3}, {0, 0, 0}));
  const ir::ValueId y = graph.AddConstant("y", Floats({1}, {5}));
  const ir::ValueId half = graph.AddConstant("half", Tensor({ElementType::kFloat16, {2}}));
  ir::ValueId sum = AddNode(graph, "Add", {graph.inputs[0], scalar}, kMatrix);
  sum = AddNode(graph, "Mul", {sum, w}, kMatrix);
  sum = AddNode(graph, "Add", {sum, y}, kMatrix);
  const ir::ValueId picked = AddNode(graph, "Gather", {half, index}, {ElementType::kFloat16, {1}});
  graph.outputs = {sum, y, picked};
  graph.output_names = {"sum", "y", "picked"};

  const std::vector<Weight> weights = TakeWeights(graph);
  EXPECT_EQ(NamesOf(weights), (std::vector<std::string>{"w", "half"}));
  EXPECT_EQ(weights[0].value.as<float>()[2], 3);
  EXPECT_EQ(InputsOf(graph), (std::vector<std::string>{"x", "w", "half"}));
  EXPECT_FALSE(graph.value(w).is_constant());
  EXPECT_TRUE(graph.value(scalar).is_constant());
  EXPECT_TRUE(graph.value(index).is_constant());
  EXPECT_TRUE(graph.value(y).is_constant());
  EXPECT_EQ(ir::Verify(graph), std::nullopt);
}

TEST(VariablesTest, LowersThemToBuffersOfTheirOwn) {
  ir::Graph graph;
  graph.name = "model";
  graph.inputs = {graph.AddValue("x", kMatrix)};
  const ir::ValueId w = graph.AddConstant("w", Floats({6}, {1, 2, 3, 4, 5, 6}));
  graph.nodes.push_back(
      graph.MakeNode("Reshape", {w}, kMatrix, {{"shape", Ints{2, 3}}}, "reshape"));
  graph.outputs = {AddNode(graph, "Mul", {graph.inputs[0], graph.nodes[0].outputs[0]}, kMatrix)};
  graph.output_names = {"y"};
  std::vector<Weight> weights = TakeWeights(graph);
  const auto schedule = Lower(graph, weights);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  ASSERT_EQ(schedule->inputs.size(), 1U);
  EXPECT_EQ(schedule->inputs[0].name, "x");
  ASSERT_EQ(schedule->variables.size(), 1U);
  const Variable& variable = schedule->variables[0];
  EXPECT_EQ(variable.name, "w");
  EXPECT_EQ(variable.value.as<float>()[5], 6);
  EXPECT_TRUE(schedule->buffers[variable.buffer].is_variable);
  EXPECT_EQ(schedule->Storage(schedule->steps[0].inputs[1]), variable.buffer);
}

/// y = x * `constant`.
ir::Graph ProductWith(const std::string& name, const Tensor& constant) {
  ir::Graph region;
  region.name = "region";
  region.inputs = {region.AddValue("x", kMatrix)};
  const ir::ValueId w = region.AddConstant(name, constant);
  region.outputs = {AddNode(region, "Mul", {region.inputs[0], w}, kMatrix)};
  region.output_names = {"y"};
  return region;
}

/// y = If(cond, x * then, x * other).
ir::Graph Choice(const ir::Graph& taken, const ir::Graph& other) {
  ir::Graph graph;
  graph.name = "model";
  const ir::ValueId cond = graph.AddValue("cond", {ElementType::kBool, {}});
  graph.inputs = {cond, graph.AddValue("x", kMatrix)};
  graph.nodes.push_back(graph.MakeNode("If", {cond, graph.inputs[1]}, kMatrix, {}, "if"));
  graph.nodes.back().regions = {taken, other};
  graph.outputs = graph.nodes.back().outputs;
  graph.output_names = {"y"};
  return graph;
}

TEST(VariablesTest, RegionsShareWeightsOfOneNameAndValue) {
  const Tensor value = Floats({3}, {1, 2, 3});
  ir::Graph graph = Choice(ProductWith("w", value), ProductWith("w", Floats({3}, {1, 2, 3})));
  EXPECT_EQ(NamesOf(TakeWeights(graph)), (std::vector<std::string>{"w"}));
  EXPECT_EQ(ir::Verify(graph), std::nullopt);
  ASSERT_EQ(graph.nodes[0].inputs.size(), 3U);
  EXPECT_EQ(graph.value(graph.nodes[0].inputs[2]).name, "w");
  for (const ir::Graph& region : graph.nodes[0].regions) {
    ASSERT_EQ(region.inputs.size(), 2U);
    EXPECT_EQ(region.nodes[0].inputs[1], region.inputs[1]);
  }
}

TEST(VariablesTest, RegionsDoNotShareDifferentWeightsOfOneName) {
  ir::Graph graph =
      Choice(ProductWith("w", Floats({3}, {1, 2, 3})), ProductWith("w", Floats({3}, {4, 5, 6})));
  const std::vector<Weight> weights = TakeWeights(graph);
  EXPECT_EQ(NamesOf(weights), (std::vector<std::string>{"w", "w_1"}));
  EXPECT_EQ(weights[1].value.as<float>()[0], 4);
  EXPECT_EQ(ir::Verify(graph), std::nullopt);
  ASSERT_EQ(graph.nodes[0].inputs.size(), 4U);
  const ir::Graph& other = graph.nodes[0].regions[1];
  EXPECT_EQ(other.nodes[0].inputs[1], other.inputs[2]);
}

TEST(VariablesTest, TakesWeightsOutOfNestedRegions) {
  ir::Graph inner =
      Choice(ProductWith("w", Floats({3}, {1, 2, 3})), ProductWith("v", Floats({1}, {7})));
  inner.name = "inner";
  ir::Graph graph;
  graph.name = "model";
  const ir::ValueId cond = graph.AddValue("cond", {ElementType::kBool, {}});
  graph.inputs = {cond, graph.AddValue("x", kMatrix)};
  graph.nodes.push_back(graph.MakeNode("If", {cond, cond, graph.inputs[1]}, kMatrix, {}, "if"));
  ir::Graph plain;
  plain.name = "plain";
  plain.inputs = {plain.AddValue("cond", {ElementType::kBool, {}}), plain.AddValue("x", kMatrix)};
  plain.outputs = {plain.inputs[1]};
  plain.output_names = {"y"};
  graph.nodes.back().regions = {inner, plain};
  graph.outputs = graph.nodes.back().outputs;
  graph.output_names = {"y"};
  ASSERT_EQ(ir::Verify(graph), std::nullopt);
  EXPECT_EQ(NamesOf(TakeWeights(graph)), (std::vector<std::string>{"w", "v"}));
  EXPECT_EQ(ir::Verify(graph), std::nullopt);
}

}  // namespace
}  // namespace poprt::lower
