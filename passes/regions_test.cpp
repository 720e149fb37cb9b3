// Passes on the regions of control-flow nodes.
#include <gtest/gtest.h>

#include "passes/pass.hpp"

namespace poprt::passes {
namespace {

const TensorType kVector{ElementType::kFloat32, {2}};

/// y = If(cond, x, k): x * x written as Pow, or x + k.
ir::Graph Choice() {
  ir::Graph graph;
  graph.name = "m";
  graph.inputs = {graph.AddValue("cond", {ElementType::kBool, {}}), graph.AddValue("x", kVector)};
  const std::vector<float> values{1, 2};
  const ir::ValueId k = graph.AddConstant("k", Tensor(kVector, values.data()));
  ir::Node node =
      graph.MakeNode("If", {graph.inputs[0], graph.inputs[1], k}, kVector, {}, "choice");
  for (const char* op : {"Pow", "Add"}) {
    ir::Graph region;
    region.name = op;
    region.inputs = {region.AddValue("p", kVector), region.AddValue("q", kVector)};
    const float two = 2;
    const ir::ValueId second =
        op == std::string("Add")
            ? region.inputs[1]
            : region.AddConstant("two", Tensor({ElementType::kFloat32, {}}, &two));
    region.nodes.push_back(region.MakeNode(op, {region.inputs[0], second}, kVector, {}, op));
    region.outputs = region.nodes[0].outputs;
    region.output_names = {"r"};
    node.regions.push_back(std::move(region));
  }
  graph.outputs = node.outputs;
  graph.output_names = {"y"};
  graph.nodes = {node};
  return graph;
}

ir::Graph Converted(const std::string& precision) {
  ir::Graph graph = Choice();
  PipelineOptions options;
  options.precision = precision;
  const auto pipeline = BuildPipeline(Stage::kConversion, options);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  const auto records = RunPasses(graph, *pipeline, {});
  EXPECT_TRUE(records.ok()) << records.status();
  return graph;
}

TEST(Regions, PassesRunInsideAndConstantsMoveThere) {
  EXPECT_EQ(ir::ToString(Converted("fp32")),
            "graph m(cond, x)\n"
            "  choice:0 = If(cond, x) : float32[2]\n"
            "    graph Pow(p)\n"
            "      Pow:0 = Mul(p, p) : float32[2]\n"
            "      return Pow:0\n"
            "    graph Add(p)\n"
            "      Add:0 = Add(p, q) : float32[2]\n"
            "      return Add:0\n"
            "  return choice:0\n");
}

TEST(Regions, KeepTheirInterfaceWhenElementTypesChange) {
  const ir::Graph graph = Converted("fp16");
  ASSERT_EQ(graph.nodes.size(), 3U);  // Cast, If, Cast
  EXPECT_EQ(graph.type(graph.inputs[1]).element, ElementType::kFloat16);
  const ir::Node& node = graph.nodes[1];
  ASSERT_EQ(node.op, "If");
  EXPECT_EQ(graph.type(node.outputs[0]).element, ElementType::kFloat32);
  const ir::Graph& region = node.regions[1];
  EXPECT_EQ(region.type(region.inputs[0]).element, ElementType::kFloat32);
  EXPECT_EQ(region.type(region.outputs[0]).element, ElementType::kFloat32);
  ASSERT_EQ(region.nodes.size(), 3U);
  EXPECT_EQ(region.nodes[1].op, "Add");
  EXPECT_EQ(region.type(region.nodes[1].inputs[1]).element, ElementType::kFloat16);
}

}  // namespace
}  // namespace poprt::passes
