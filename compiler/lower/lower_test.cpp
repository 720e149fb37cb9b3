#include "compiler/lower/lower.hpp"

#include <gtest/gtest.h>

namespace poprt::lower {
namespace {

const TensorType kMatrix{ElementType::kFloat32, {2, 3}};

TEST(LowerTest, ReshapeIsAViewOfTheStorage) {
  ir::Graph graph;
  graph.name = "model";
  graph.inputs = {graph.AddValue("x", kMatrix)};
  graph.nodes.push_back(graph.MakeNode("Relu", {graph.inputs[0]}, kMatrix, {}, "relu"));
  graph.nodes.push_back(graph.MakeNode("Reshape", {graph.nodes[0].outputs[0]},
                                       {ElementType::kFloat32, {6}}, {{"shape", Ints{6}}}, "flat"));
  graph.nodes.push_back(graph.MakeNode("Unsqueeze", {graph.nodes[1].outputs[0]},
                                       {ElementType::kFloat32, {1, 6}}, {{"axes", Ints{0}}},
                                       "row"));
  graph.outputs = {graph.nodes[2].outputs[0]};
  graph.output_names = {"y"};
  const auto schedule = Lower(graph);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  ASSERT_EQ(schedule->steps.size(), 1U);
  EXPECT_EQ(schedule->steps[0].kernel, "Relu");
  const BufferId output = schedule->outputs[0].buffer;
  EXPECT_EQ(schedule->Storage(output), schedule->steps[0].outputs[0]);
  EXPECT_EQ(schedule->buffers[output].type.shape, (Shape{1, 6}));
}

TEST(LowerTest, PacksConstantWeights) {
  ir::Graph graph;
  graph.name = "model";
  graph.inputs = {graph.AddValue("x", kMatrix)};
  const ir::ValueId w = graph.AddConstant("w", Tensor({ElementType::kFloat32, {3, 20}}));
  graph.nodes.push_back(graph.MakeNode("FusedMatMul", {graph.inputs[0], w},
                                       {ElementType::kFloat32, {2, 20}},
                                       {{"activation", std::string("relu")}}, "product"));
  graph.outputs = graph.nodes[0].outputs;
  graph.output_names = {"y"};
  const auto schedule = Lower(graph);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  const Step& step = schedule->steps[0];
  EXPECT_EQ(step.kernel, "gemm");
  EXPECT_EQ(step.attributes.get_int("n", 0), 20);
  EXPECT_EQ(schedule->buffers[step.inputs[1]].type.shape, (Shape{2, 3, 16}));
}

TEST(LowerTest, ListsEveryNodeThatCannotRun) {
  ir::Graph graph;
  graph.name = "model";
  graph.inputs = {graph.AddValue("x", kMatrix)};
  for (const char* name : {"first", "second"}) {
    graph.nodes.push_back(graph.MakeNode("NoSuchOp", {graph.inputs[0]}, kMatrix, {}, name));
  }
  graph.outputs = {graph.nodes[0].outputs[0], graph.nodes[1].outputs[0]};
  graph.output_names = {"y", "z"};
  EXPECT_EQ(Lower(graph).status().message(),
            "model: node 'first' (NoSuchOp of float32[2, 3]) cannot be compiled: the model device "
            "has no kernel for it\n"
            "model: node 'second' (NoSuchOp of float32[2, 3]) cannot be compiled: the model device "
            "has no kernel for it");
}

}  // namespace
}  // namespace poprt::lower
