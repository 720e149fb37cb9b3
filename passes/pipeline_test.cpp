#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "passes/evaluate_for_test.hpp"
#include "passes/graph_for_test.hpp"

/// The pass table, the pipeline, RunPasses, and the passes that users steer by name.
namespace poprt::passes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> NamesOf(const std::vector<const PassDef*>& pipeline) {
  std::vector<std::string> names;
  names.reserve(pipeline.size());
  for (const PassDef* pass : pipeline) names.emplace_back(pass->name);
  return names;
}

TEST(PassTableTest, IsOrderedAndComplete) {
  const auto passes = AllPasses();
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (i > 0) {
      EXPECT_LT(passes[i - 1].name, passes[i].name);
    }
    EXPECT_EQ(FindPass(passes[i].name), &passes[i]);
    EXPECT_FALSE(passes[i].summary.empty());
    ASSERT_NE(passes[i].run, nullptr);
  }
  EXPECT_EQ(FindPass("no_such_pass"), nullptr);
}

TEST(PassTableTest, NoPassChangesAGraphThatHasNothingForIt) {
  for (const PassDef& pass : AllPasses()) {
    if (pass.name == "float_to_half" || pass.name == "lower_to_fused") continue;
    GraphForTest g;
    const auto m =
        g.Op("m", "MatMul", {g.Input("x", {1, 2}), g.Constant("w", {2, 2}, {1, 2, 3, 4})}, {1, 2});
    g.Output(g.Op("y", "Sin", {m}, {1, 2}));
    const PassDef* const pipeline[] = {&pass};
    const auto records = RunPasses(g.graph, pipeline, {});
    ASSERT_TRUE(records.ok()) << records.status();
    EXPECT_FALSE(records->front().changed) << pass.name;
  }
}

TEST(BuildPipelineTest, DefaultsAreInTheTableAndOfTheStage) {
  for (const Stage stage : {Stage::kConversion, Stage::kLowering}) {
    for (const char* precision : {"fp32", "fp16"}) {
      const auto pipeline = BuildPipeline(stage, {.precision = precision, .extra = {}, .skip = {}});
      ASSERT_TRUE(pipeline.ok()) << pipeline.status();
      for (const PassDef* pass : *pipeline) {
        ASSERT_NE(pass, nullptr);
        EXPECT_TRUE(pass->stage == stage || stage == Stage::kLowering) << pass->name;
      }
      const bool to_half = std::ranges::count(NamesOf(*pipeline), "float_to_half") == 1;
      EXPECT_EQ(to_half, stage == Stage::kConversion && std::string(precision) == "fp16");
    }
  }
}

TEST(BuildPipelineTest, SkipsAndAppends) {
  const auto pipeline = BuildPipeline(
      Stage::kLowering, {.precision = "fp32",
                         .extra = {"gelu_pattern", "eliminate_identity"},
                         .skip = {"gelu_pattern", "layer_norm_pattern", "erf_gelu_pattern"}});
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const auto names = NamesOf(*pipeline);
  EXPECT_EQ(names.front(), "lower_quantized_move");
  EXPECT_EQ(names.back(), "gelu_pattern") << "of the extra passes those of the stage run";
}

TEST(BuildPipelineTest, NamesEveryUnknownPass) {
  const auto pipeline = BuildPipeline(
      Stage::kConversion, {.precision = "fp32", .extra = {"gelu_patern"}, .skip = {"xyz"}});
  EXPECT_EQ(pipeline.status().message(),
            "passes that do not exist: 'gelu_patern' (did you mean 'gelu_pattern'?), 'xyz'");
  EXPECT_EQ(BuildPipeline(Stage::kConversion, {.precision = "fp8", .extra = {}, .skip = {}})
                .status()
                .message(),
            "precision 'fp8' does not exist; use 'fp32' or 'fp16'");
}

TEST(RunPassesTest, RecordsWhatChanged) {
  GraphForTest g;
  const auto x = g.Input("x", {2});
  g.Output(g.Op("y", "Relu", {g.Op("i", "Identity", {x}, {2})}, {2}));
  const PassDef* const pipeline[] = {FindPass("eliminate_deadend"), FindPass("eliminate_identity")};
  std::vector<std::string> heard;
  const auto records = RunPasses(g.graph, pipeline, {},
                                 [&](const PassRecord& record) { heard.push_back(record.name); });
  ASSERT_TRUE(records.ok()) << records.status();
  EXPECT_THAT(heard, ElementsAre("eliminate_deadend", "eliminate_identity"));
  EXPECT_FALSE((*records)[0].changed);
  EXPECT_EQ((*records)[0].nodes_after, 2U);
  EXPECT_TRUE((*records)[1].changed);
  EXPECT_EQ((*records)[1].nodes_after, 1U);
}

TEST(RunPassesTest, NamesThePassThatBreaksTheGraph) {
  const PassDef breaks{
      .name = "breaks", .summary = "", .run = [](ir::Graph& graph, const PassContext&) {
        graph.outputs = {77};
        return absl::OkStatus();
      }};
  GraphForTest g;
  g.Output(g.Input("x", {2}));
  const PassDef* const pipeline[] = {&breaks};
  const auto records = RunPasses(g.graph, pipeline, {});
  EXPECT_EQ(records.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(records.status().message()), HasSubstr("pass 'breaks'"));
}

TEST(RunPassesTest, DefaultPassesKeepTheResult) {
  GraphForTest g;
  const auto x = g.Input("x", {2, 3});
  const auto m =
      g.Op("m", "MatMul", {x, g.Constant("w", {3, 4}, std::vector<double>(12, 0.25))}, {2, 4});
  const auto b = g.Op("b", "Add", {m, g.Constant("c", {4}, {1, -2, 3, -4})}, {2, 4});
  const auto i = g.Op("i", "Identity", {b}, {2, 4});
  g.Output(g.Op("y", "Clip",
                {i, g.Scalar(0), g.Op("six", "Mul", {g.Scalar(2), g.Scalar(3)}, Shape{})}, {2, 4}));
  const ir::Graph before = g.graph;
  for (const Stage stage : {Stage::kConversion, Stage::kLowering}) {
    const auto pipeline = BuildPipeline(stage, {});
    ASSERT_TRUE(pipeline.ok()) << pipeline.status();
    const auto records = RunPasses(g.graph, *pipeline, {});
    ASSERT_TRUE(records.ok()) << records.status();
  }
  EXPECT_EQ(g.Text(),
            "  y = FusedMatMul(x, w, m_node_bias) activation=\"clip\" max=6 min=0 trans_b=0 : "
            "float32[2, 4]\n  return y\n");
  EXPECT_LE(LargestDifference(before, g.graph), 1e-6);
}

/// r = Relu(x), y = Exp(r), z = Neg(r); returns y, z.
GraphForTest TwoOutputs() {
  GraphForTest g;
  const auto r = g.Op("r", "Relu", {g.Input("x", {2})}, {2});
  g.Output(g.Op("y", "Exp", {r}, {2}));
  g.Output(g.Op("z", "Neg", {r}, {2}));
  return g;
}

TEST(AddCheckpointsTest, AppendsValuesAsOutputs) {
  GraphForTest g = TwoOutputs();
  PassContext context;
  context.checkpoints = {"r", "y"};
  EXPECT_THAT(g.After("add_checkpoints", context), HasSubstr("return y, z, r\n"));
  EXPECT_THAT(g.graph.output_names, ElementsAre("y", "z", "r"));
}

TEST(AddCheckpointsTest, ListsUnknownNames) {
  GraphForTest g = TwoOutputs();
  PassContext context;
  context.checkpoints = {"R", "r", "nothing"};
  EXPECT_EQ(g.After("add_checkpoints", context),
            "model 'g' has no values named as checkpoints: 'R' (did you mean 'r'?), 'nothing'");
}

TEST(RemoveOutputsTest, DropsOutputsAndWhatOnlyTheyNeed) {
  GraphForTest g = TwoOutputs();
  PassContext context;
  context.remove_outputs = {"z"};
  EXPECT_EQ(g.After("remove_outputs", context),
            "  r = Relu(x) : float32[2]\n  y = Exp(r) : float32[2]\n  return y\n");
}

TEST(RemoveOutputsTest, RefusesUnknownNamesAndAllOutputs) {
  GraphForTest g = TwoOutputs();
  PassContext context;
  context.remove_outputs = {"r", "Z"};
  EXPECT_EQ(g.After("remove_outputs", context),
            "model 'g' has no outputs to remove named: 'r', 'Z' (did you mean 'z'?)");
  context.remove_outputs = {"y", "z"};
  EXPECT_EQ(g.After("remove_outputs", context),
            "model 'g': remove_outputs names every output; keep at least one");
}

TEST(ConstantFoldingTest, ComputesConstantsAndShapes) {
  GraphForTest g;
  const TensorType two_ints{ElementType::kInt64, {2}};
  const auto x = g.Input("x", {2, 3, 5});
  g.Output(g.Op("sum", "Add", {g.Constant("a", {2}, {1, 2}), g.Constant("b", {2}, {3, 4})}, {2}));
  g.Output(g.Op("shape", "Shape", {x}, two_ints, {{"start", std::int64_t{1}}}));
  g.Output(g.Op("size", "Size", {x}, {ElementType::kInt64, {}}));
  EXPECT_EQ(g.After("constant_folding"), "  return sum, shape, size\n");
  EXPECT_THAT(ToDoubles(*g.graph.ConstantOf(g.graph.outputs[0])), ElementsAre(4, 6));
  EXPECT_THAT(ToDoubles(*g.graph.ConstantOf(g.graph.outputs[1])), ElementsAre(3, 5));
  EXPECT_THAT(ToDoubles(*g.graph.ConstantOf(g.graph.outputs[2])), ElementsAre(30));
}

TEST(ConstantFoldingTest, RespectsTheLargestTensorAndWhatIsNotConstant) {
  GraphForTest g;
  const auto a = g.Constant("a", {1}, {1});
  const auto big = g.Op("big", "Expand", {a}, {100}, {{"shape", Ints{100}}});
  g.Output(g.Op("y", "Add", {big, g.Input("x", {100})}, {100}));
  const std::string before = g.Text();
  PassContext context;
  context.max_tensor_size = 399;
  EXPECT_EQ(g.After("constant_folding", context), before);
  context.max_tensor_size = 400;
  EXPECT_EQ(g.After("constant_folding", context), "  y = Add(big, x) : float32[100]\n  return y\n");
}

}  // namespace
}  // namespace poprt::passes
