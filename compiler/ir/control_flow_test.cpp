#include "compiler/ir/control_flow.hpp"

#include <gtest/gtest.h>

namespace poprt::ir {
namespace {

const TensorType kTruth{ElementType::kBool, {}};
const TensorType kNumber{ElementType::kInt64, {}};
const TensorType kVector{ElementType::kFloat32, {2}};

/// A region that applies an operator to its input `used` of two captured ones and gives the result
/// twice.
Graph Branch(const std::string& op, std::size_t used) {
  Graph region;
  region.name = op;
  region.inputs = {region.AddValue("p", kVector), region.AddValue("q", kVector)};
  region.nodes.push_back(region.MakeNode(op, {region.inputs[used]}, kVector, {}, op));
  region.outputs = {region.nodes[0].outputs[0], region.nodes[0].outputs[0]};
  region.output_names = {"r", "s"};
  return region;
}

/// (y, z) = If(cond, a, b).
Graph Choice() {
  Graph graph;
  graph.name = "m";
  graph.inputs = {graph.AddValue("cond", kTruth), graph.AddValue("a", kVector),
                  graph.AddValue("b", kVector)};
  Node node = graph.MakeNode("If", graph.inputs, kVector, {}, "choice");
  node.outputs.push_back(graph.AddValue("z", kVector));
  node.regions = {Branch("Relu", 0), Branch("Neg", 0)};
  graph.outputs = {node.outputs[0]};
  graph.output_names = {"y"};
  graph.nodes.push_back(node);
  return graph;
}

/// a = Loop(n, -, a, b) that adds b n times and stacks a.
Graph Sum() {
  Graph graph;
  graph.name = "m";
  graph.inputs = {graph.AddValue("n", kNumber), graph.AddValue("a", kVector),
                  graph.AddValue("b", kVector)};
  Node node = graph.MakeNode("Loop", {graph.inputs[0], kAbsent, graph.inputs[1], graph.inputs[2]},
                             kVector, {{std::string(kNumCarried), std::int64_t{1}}}, "sum");
  node.outputs.push_back(graph.AddValue("all", {ElementType::kFloat32, {4, 2}}));
  Graph body;
  body.inputs = {body.AddValue("i", kNumber), body.AddValue("c", kTruth),
                 body.AddValue("v", kVector), body.AddValue("b", kVector)};
  body.nodes.push_back(body.MakeNode("Add", {body.inputs[2], body.inputs[3]}, kVector, {}, "add"));
  body.outputs = {body.inputs[1], body.nodes[0].outputs[0], body.inputs[2]};
  body.output_names = {"c", "w", "v"};
  node.regions = {body};
  graph.outputs = node.outputs;
  graph.output_names = {"a9", "all"};
  graph.nodes.push_back(node);
  return graph;
}

TEST(ControlFlow, SoundRegionsPass) {
  EXPECT_EQ(Verify(Choice()), std::nullopt);
  EXPECT_EQ(Verify(Sum()), std::nullopt);
}

TEST(ControlFlow, VerifyNamesTheNodeAndWhatDoesNotFit) {
  Graph graph = Choice();
  graph.nodes[0].regions.pop_back();
  EXPECT_EQ(Verify(graph), "graph 'm': node 'choice': the number of regions is wrong");
  graph = Choice();
  graph.nodes[0].regions[1].value(1).type = kNumber;
  EXPECT_EQ(Verify(graph),
            "graph 'm': node 'choice': the else branch of node 'choice', input 2 is float32[2] and "
            "int64[]");
  graph = Choice();
  graph.nodes[0].regions[0].outputs[0] = 17;
  EXPECT_EQ(Verify(graph),
            "graph 'm': in the then branch of node 'choice': graph 'Relu': graph outputs: value "
            "number 17 does not exist");
  graph = Sum();
  std::swap(graph.nodes[0].regions[0].outputs[0], graph.nodes[0].regions[0].outputs[1]);
  EXPECT_EQ(Verify(graph),
            "graph 'm': node 'sum': the body of node 'sum', next condition is float32[2] and "
            "bool[]");
  graph = Sum();
  graph.value(graph.nodes[0].outputs[1]).type.shape = {4, 3};
  EXPECT_EQ(Verify(graph),
            "graph 'm': node 'sum': the body of node 'sum', slice 1 is float32[3] and float32[2]");
  graph = Sum();
  graph.nodes[0].op = "Add";
  EXPECT_EQ(Verify(graph), "graph 'm': node 'sum': Add has no regions");
}

TEST(ControlFlow, CompactDropsResultsAndCapturesThatNobodyReads) {
  Graph graph = Choice();
  graph.Compact();
  EXPECT_EQ(Verify(graph), std::nullopt);
  EXPECT_EQ(ToString(graph),
            "graph m(cond, a, b)\n"
            "  choice:0 = If(cond, a) : float32[2]\n"
            "    graph Relu(p)\n"
            "      Relu:0 = Relu(p) : float32[2]\n"
            "      return Relu:0\n"
            "    graph Neg(p)\n"
            "      Neg:0 = Neg(p) : float32[2]\n"
            "      return Neg:0\n"
            "  return choice:0\n");
}

TEST(ControlFlow, CompactKeepsWhatTheNextIterationNeeds) {
  Graph graph = Sum();
  graph.outputs = {graph.nodes[0].outputs[1]};
  graph.output_names = {"all"};
  graph.Compact();
  EXPECT_EQ(Verify(graph), std::nullopt);
  EXPECT_EQ(graph.nodes[0].outputs.size(), 2U);
  graph = Sum();
  graph.outputs.pop_back();
  graph.output_names.pop_back();
  graph.Compact();
  EXPECT_EQ(Verify(graph), std::nullopt);
  EXPECT_EQ(graph.nodes[0].outputs.size(), 1U);
  EXPECT_EQ(graph.nodes[0].regions[0].output_names, (std::vector<std::string>{"c", "w"}));
}

}  // namespace
}  // namespace poprt::ir
