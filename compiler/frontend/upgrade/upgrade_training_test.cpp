#include <gtest/gtest.h>

#include "compiler/frontend/model_text.hpp"

/// Losses, statistics, random numbers and optimizers: what models for training have.
namespace poprt::frontend {
namespace {

std::string Outputs(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += OutputText(name);
  return text;
}

TEST(UpgradeTraining, SoftmaxCrossEntropy) {
  const std::string inputs = FloatsText("x", {0, 0, 0, 0}, {2, 2}) + IntsText("t", {0, 1}, {2});
  const auto model = ImportText(inputs + Outputs({"y", "log"}) +
                                NodeText("SoftmaxCrossEntropyLoss", {"x", "t"}, {"y", "log"},
                                         TextAttribute("reduction", "sum")));
  EXPECT_EQ(ValuesOf(model), "float32[]: 1.38629");
  EXPECT_EQ(ValuesOf(model, 1), "float32[2, 2]: -0.693147 -0.693147 -0.693147 -0.693147");
  EXPECT_EQ(ValuesOf(ImportText(inputs + Outputs({"y"}) +
                                NodeText("SoftmaxCrossEntropyLoss", {"x", "t"}, {"y"},
                                         IntAttribute("ignore_index", 0)))),
            "float32[]: 0.693147");
}

const std::string kBatch = FloatsText("x", {1, 3, 2, 6}, {2, 2}) + FloatsText("one", {1, 1}, {2}) +
                           FloatsText("zero", {0, 0}, {2});

TEST(UpgradeTraining, BatchNormalizationLearns) {
  const std::string node =
      NodeText("BatchNormalization", {"x", "one", "zero", "zero", "one"}, {"y", "m", "v"},
               IntAttribute("training_mode", 1) + FloatAttribute("momentum", 0.5F) +
                   FloatAttribute("epsilon", 0));
  const auto model = ImportText(kBatch + Outputs({"y", "m", "v"}) + node, 15);
  EXPECT_EQ(ValuesOf(model), "float32[2, 2]: -1 -1 1 1");
  EXPECT_EQ(ValuesOf(model, 1), "float32[2]: 0.75 2.25");
  EXPECT_EQ(ValuesOf(model, 2), "float32[2]: 0.625 1.625");
}

TEST(UpgradeTraining, OldBatchNormalizationShowsTheBatch) {
  const std::string node = NodeText("BatchNormalization", {"x", "one", "zero", "zero", "one"},
                                    {"y", "m", "v", "sm", "sv"}, FloatAttribute("momentum", 0.5F));
  const auto model = ImportText(kBatch + Outputs({"y", "sm", "sv"}) + node, 9);
  EXPECT_EQ(ValuesOf(model, 1), "float32[2]: 1.5 4.5");
  EXPECT_EQ(ValuesOf(model, 2), "float32[2]: 0.25 2.25");
  EXPECT_EQ(
      ErrorOf(ImportText(kBatch + Outputs({"y", "m"}) +
                             NodeText("BatchNormalization", {"x", "one", "zero", "zero", "one"},
                                      {"y", "m"}, "name: \"b\""),
                         15)),
      "m: node 'b' (BatchNormalization, opset 15, inputs float32[2, 2], float32[2], "
      "float32[2], float32[2], float32[2]): has only one output unless attribute "
      "'training_mode' is 1");
}

TEST(UpgradeTraining, StatisticsOfElements) {
  EXPECT_EQ(ValuesOf(ImportText(
                FloatsText("x", {1, 3, 2, 6}, {1, 2, 2}) + FloatsText("p", {2, 2, 2, 2}, {2, 2}) +
                    FloatsText("q", {1, 1, 1, 4}, {2, 2}) + Outputs({"y"}) +
                    NodeText("BatchNormalization", {"x", "p", "q", "q", "q"}, {"y"},
                             IntAttribute("spatial", 0) + IntAttribute("is_test", 1) +
                                 FloatAttribute("epsilon", 0)),
                6)),
            "float32[1, 2, 2]: 1 5 3 6");
}

std::string Dropout(const std::string& ratio, bool training) {
  return ratio + "initializer { name: \"t\" data_type: 9 int32_data: " +
         std::to_string(static_cast<int>(training)) + " } " +
         NodeText("Dropout", {"x", "r", "t"}, {"y", "mask"}, IntAttribute("seed", 0));
}

TEST(UpgradeTraining, DropoutDropsAndGrows) {
  const auto model = ImportText(
      InputText("x", {"4"}) + Outputs({"y", "mask"}) + Dropout(FloatsText("r", {0.75F}, {}), true),
      13);
  ASSERT_TRUE(model.ok()) << ErrorOf(model);
  EXPECT_EQ(model->graph.nodes.front().op, "RandomUniform");
  EXPECT_EQ(model->graph.nodes.back().op, "Where");
  for (const bool training : {false, true}) {
    const float ratio = training ? 0.0F : 0.75F;
    const auto kept = ImportText(FloatsText("x", {1, 2}, {2}) + Outputs({"y", "mask"}) +
                                     Dropout(FloatsText("r", {ratio}, {}), training),
                                 13);
    EXPECT_EQ(ValuesOf(kept), "float32[2]: 1 2");
    EXPECT_EQ(ValuesOf(kept, 1), "bool[2]: 1 1");
  }
}

TEST(UpgradeTraining, DropoutMayBeDecidedAtRunTime) {
  const auto model = ImportText(InputText("x", {"4"}) + InputText("t", {}, 9) + Outputs({"y"}) +
                                    NodeText("Dropout", {"x", "", "t"}, {"y"}),
                                13);
  ASSERT_TRUE(model.ok()) << ErrorOf(model);
  EXPECT_EQ(ToString(model->graph.type(model->graph.outputs[0])), "float32[4]");
}

TEST(UpgradeTraining, RandomNumbersNeedASeed) {
  std::vector<std::string> warnings;
  ImportOptions options;
  options.warn = [&](const std::string& message) { warnings.push_back(message); };
  const auto model = ImportText(
      InputText("x", {"2", "3"}, 11) + Outputs({"y", "z"}) +
          NodeText("RandomNormalLike", {"x"}, {"y"}, "name: \"r\"") +
          NodeText("Bernoulli", {"x"}, {"z"}, FloatAttribute("seed", 5) + IntAttribute("dtype", 7)),
      15, options);
  ASSERT_TRUE(model.ok()) << ErrorOf(model);
  EXPECT_EQ(ToString(model->graph.type(model->graph.outputs[0])), "float64[2, 3]");
  EXPECT_EQ(ToString(model->graph.type(model->graph.outputs[1])), "int64[2, 3]");
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].substr(0, 42), "m: node 'r' (RandomNormalLike) has no seed");
}

std::string Trained(const std::string& graph) {
  const auto model = ImportOnnxBytes(
      BytesOfText("ir_version: 8 opset_import { version: 12 } opset_import { domain: "
                  "\"ai.onnx.preview.training\" version: 1 } graph { name: \"g\" " +
                  FloatsText("r", {0.5F}, {}) + IntsText("n", {0}, {}) +
                  FloatsText("x", {1, 2}, {2}) + FloatsText("g", {1, -1}, {2}) +
                  FloatsText("s", {0, 3}, {2}) + graph + "}"),
      "", {.model_name = "m"});
  return model.ok() ? ValuesOf(model) + "; " + ValuesOf(model, 1) : ErrorOf(model);
}

TEST(UpgradeTraining, Optimizers) {
  const std::string domain = "domain: \"ai.onnx.preview.training\" ";
  EXPECT_EQ(Trained(Outputs({"y", "z"}) + NodeText("Adagrad", {"r", "n", "x", "g", "s"}, {"y", "z"},
                                                   domain + FloatAttribute("epsilon", 0))),
            "float32[2]: 0.5 2.25; float32[2]: 1 4");
  EXPECT_EQ(Trained(Outputs({"y", "z"}) +
                    NodeText("Momentum", {"r", "n", "x", "g", "s"}, {"y", "z"},
                             domain + FloatAttribute("alpha", 0.5F) + FloatAttribute("beta", 9) +
                                 FloatAttribute("norm_coefficient", 0) +
                                 TextAttribute("mode", "standard"))),
            "float32[2]: 0.5 1.75; float32[2]: 1 0.5");
  EXPECT_EQ(Trained(Outputs({"y", "z"}) +
                    NodeText("Adam", {"r", "n", "x", "g", "s", "s"}, {"y", "z", "h"},
                             domain + FloatAttribute("alpha", 0) + FloatAttribute("beta", 0) +
                                 FloatAttribute("epsilon", 0))),
            "float32[2]: 0.5 2.5; float32[2]: 1 -1");
  EXPECT_EQ(Trained(Outputs({"y"}) +
                    NodeText("Adagrad", {"r", "n", "x", "g"}, {"y"}, domain + "name: \"a\" ")),
            "m: node 'a' (Adagrad, opset 1, inputs float32[], int64[], float32[2], float32[2]): "
            "has 4 inputs, it must have 2 and 3 for each tensor that is optimized");
}

}  // namespace
}  // namespace poprt::frontend
