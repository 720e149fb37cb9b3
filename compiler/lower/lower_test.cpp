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

TEST(LowerTest, PacksConstantWeightsOfRecurrentOperators) {
  for (const bool constant : {false, true}) {
    ir::Graph graph;
    graph.name = "model";
    graph.inputs = {graph.AddValue("x", {ElementType::kFloat32, {5, 2, 3}})};
    const auto weights = [&](const char* name, const Shape& shape) {
      const TensorType type{ElementType::kFloat32, shape};
      if (constant) return graph.AddConstant(name, Tensor(type));
      graph.inputs.push_back(graph.AddValue(name, type));
      return graph.inputs.back();
    };
    const ir::ValueId w = weights("w", {1, 60, 3});
    const ir::ValueId r = weights("r", {1, 60, 20});
    graph.nodes.push_back(graph.MakeNode("GRU", {graph.inputs[0], w, r},
                                         {ElementType::kFloat32, {5, 1, 2, 20}}, {}, "gru"));
    graph.outputs = graph.nodes[0].outputs;
    graph.output_names = {"y"};
    const auto schedule = Lower(graph);
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    const Step& step = schedule->steps[0];
    EXPECT_EQ(step.kernel, "gru");
    EXPECT_EQ(step.attributes.has("packed"), constant);
    // Three gates of two panels.
    EXPECT_EQ(schedule->buffers[step.inputs[2]].type.shape,
              constant ? (Shape{6, 20, 16}) : (Shape{1, 60, 20}));
  }
}

/// The types of the operands of a node with short_weights that reads x and constants.
std::vector<TensorType> OperandsOfShort(const char* op, const TensorType& x,
                                        const std::vector<Tensor>& constants, const TensorType& y) {
  ir::Graph graph;
  graph.name = "model";
  graph.inputs = {graph.AddValue("x", x)};
  std::vector<ir::ValueId> inputs = graph.inputs;
  for (const Tensor& constant : constants) inputs.push_back(graph.AddConstant("c", constant));
  graph.nodes.push_back(
      graph.MakeNode(op, inputs, y, {{"short_weights", std::int64_t{1}}}, "node"));
  graph.outputs = graph.nodes[0].outputs;
  graph.output_names = {"y"};
  const auto schedule = Lower(graph);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  if (!schedule.ok()) return {};
  const Step& step = schedule->steps[0];
  EXPECT_FALSE(step.attributes.has("short_weights"));
  std::vector<TensorType> types;
  for (const auto input : step.inputs) types.push_back(schedule->buffers[input].type);
  return types;
}

TEST(LowerTest, ScalesTheWeightsThatOneRowIsMultipliedBy) {
  constexpr std::int64_t kHidden = 20;
  const Tensor w({ElementType::kFloat32, {1, 3 * kHidden, 3}});
  const Tensor r({ElementType::kFloat32, {1, 3 * kHidden, kHidden}});
  for (const std::int64_t steps : {1, 5}) {
    const TensorType x{ElementType::kFloat32, {steps, 1, 3}};
    const auto types =
        OperandsOfShort("GRU", x, {w, r}, {ElementType::kFloat32, {steps, 1, 1, kHidden}});
    // Three gates of two panels: a line of scales, and one of two rows, of which W has three.
    const ElementType of_w = steps == 1 ? ElementType::kInt32 : ElementType::kFloat32;
    EXPECT_EQ(types,
              (std::vector<TensorType>{x, {of_w, {6, 3, 16}}, {ElementType::kInt32, {6, 11, 16}}}));
  }
}

TEST(LowerTest, ProductsHaveScaledWeightsUnlessTheseAreHalfOrLoseTooMuch) {
  constexpr std::int64_t kDepth = 60;
  const TensorType x{ElementType::kFloat32, {1, kDepth}};
  const auto type_of = [&](float first, float weight) {
    Tensor weights({ElementType::kFloat32, {kDepth, 20}});
    for (float& number : weights.as_mutable<float>()) number = weight;
    weights.as_mutable<float>()[0] = first;
    const auto types =
        OperandsOfShort("FusedMatMul", x, {weights}, {ElementType::kFloat32, {1, 20}});
    return types.at(1);
  };
  EXPECT_EQ(type_of(0.1F, 0.1F), (TensorType{ElementType::kInt32, {2, 31, 16}}));
  EXPECT_EQ(type_of(0.5F, 0.5F), (TensorType{ElementType::kFloat16, {2, kDepth, 16}}));
  EXPECT_EQ(type_of(100.3F, 0.1F), (TensorType{ElementType::kFloat32, {2, kDepth, 16}}));
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

TEST(LowerTest, RefusesAnInputThatIsAnOutputItself) {
  ir::Graph graph;
  graph.name = "model";
  graph.inputs = {graph.AddValue("x", kMatrix)};
  graph.outputs = graph.inputs;
  graph.output_names = {"x"};
  EXPECT_EQ(Lower(graph).status().message(),
            "model: output 'x' is an input, from which it could not be told by its name; make it "
            "an Identity of the input, called otherwise");
  graph.output_names = {"y"};
  EXPECT_TRUE(Lower(graph).ok());
}

/// (a, b) = Loop(n, -, a, b) that swaps what it carries.
ir::Graph Swap() {
  const TensorType number{ElementType::kInt64, {}};
  ir::Graph graph;
  graph.name = "model";
  graph.inputs = {graph.AddValue("n", number), graph.AddValue("a", kMatrix),
                  graph.AddValue("b", kMatrix)};
  ir::Node node =
      graph.MakeNode("Loop", {graph.inputs[0], ir::kAbsent, graph.inputs[1], graph.inputs[2]},
                     kMatrix, {{"num_carried", std::int64_t{2}}}, "swap");
  node.outputs.push_back(graph.AddValue("b9", kMatrix));
  ir::Graph body;
  body.inputs = {body.AddValue("i", number), body.AddValue("c", {ElementType::kBool, {}}),
                 body.AddValue("p", kMatrix), body.AddValue("q", kMatrix)};
  body.outputs = {body.inputs[1], body.inputs[3], body.inputs[2]};
  body.output_names = {"c", "q", "p"};
  node.regions = {body};
  graph.outputs = node.outputs;
  graph.output_names = {"a9", "b9"};
  graph.nodes = {node};
  return graph;
}

TEST(LowerTest, SwappedStatesAreSavedFirst) {
  const auto schedule = Lower(Swap());
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  ASSERT_EQ(schedule->steps.size(), 1U);
  const Step& step = schedule->steps[0];
  EXPECT_EQ(step.kernel, "Loop");
  ASSERT_EQ(step.bodies.size(), 1U);
  const Body& body = step.bodies[0];
  ASSERT_EQ(body.steps.size(), 2U);
  for (std::size_t i : {0, 1}) {
    EXPECT_EQ(body.steps[i].kernel, "Identity");
    EXPECT_EQ(body.steps[i].inputs[0], step.outputs[1 - i]);
    EXPECT_EQ(body.steps[i].outputs[0], body.outputs[i + 1]);
  }
  EXPECT_EQ(body.outputs[0], body.inputs[1]);
}

TEST(LowerTest, NamesTheBodyOfANodeThatCannotRun) {
  ir::Graph graph = Swap();
  ir::Graph& body = graph.nodes[0].regions[0];
  body.nodes.push_back(body.MakeNode("NoSuchOp", {body.inputs[2]}, kMatrix, {}, "inner"));
  body.outputs[1] = body.nodes[0].outputs[0];
  EXPECT_EQ(Lower(graph).status().message(),
            "model: in the body of node 'swap': node 'inner' (NoSuchOp of float32[2, 3]) cannot be "
            "compiled: the model device has no kernel for it");
}

}  // namespace
}  // namespace poprt::lower
