#include <gtest/gtest.h>

#include "compiler/frontend/model_text.hpp"

namespace poprt::frontend {
namespace {

absl::StatusOr<ImportedModel> Imported(const std::string& graph, int version = 3) {
  return ImportOnnxBytes(
      BytesOfText("ir_version: 8 opset_import { domain: \"ai.onnx.ml\" version: " +
                  std::to_string(version) + " } graph { name: \"g\" " + graph + "}"),
      "", {.model_name = "m"});
}

std::string MlNode(const std::string& op, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, const std::string& attributes) {
  return NodeText(op, inputs, outputs, "domain: \"ai.onnx.ml\" name: \"n\" " + attributes);
}

std::string FloatsAttribute(const std::string& name, const std::vector<float>& values) {
  std::string text = "attribute { name: \"" + name + "\" type: FLOATS ";
  for (const float value : values) text += "floats: " + std::to_string(value) + " ";
  return text + "} ";
}

const std::string kData = FloatsText("x", {1, -2, 3, 4, 0, -6}, {2, 3});

std::string Computed(const std::string& op, const std::string& attributes) {
  return ValuesOf(Imported(kData + OutputText("y") + MlNode(op, {"x"}, {"y"}, attributes)));
}

TEST(UpgradeMl, Features) {
  EXPECT_EQ(Computed("Binarizer", FloatAttribute("threshold", 1)), "float32[2, 3]: 0 0 1 1 0 0");
  EXPECT_EQ(
      Computed("Scaler", FloatsAttribute("offset", {1}) + FloatsAttribute("scale", {1, 2, 3})),
      "float32[2, 3]: 0 -6 6 3 -2 -21");
  EXPECT_EQ(Computed("Normalizer", TextAttribute("norm", "L1")),
            "float32[2, 3]: 0.166667 -0.333333 0.5 0.4 0 -0.6");
  EXPECT_EQ(Computed("Normalizer", TextAttribute("norm", "MAX")),
            "float32[2, 3]: 0.333333 -0.666667 1 0.666667 0 -1");
  EXPECT_EQ(Computed("Imputer", FloatsAttribute("imputed_value_floats", {7, 8, 9}) +
                                    FloatAttribute("replaced_value_float", 0)),
            "float32[2, 3]: 1 -2 3 4 8 -6");
  EXPECT_EQ(Computed("FeatureVectorizer", IntsAttribute("inputdimensions", {4})),
            "float32[2, 4]: 1 -2 3 0 4 0 -6 0");
  EXPECT_EQ(Computed("OneHotEncoder", IntsAttribute("cats_int64s", {3, 0})),
            "float32[2, 3, 2]: 0 0 0 0 1 0 0 0 0 1 0 0");
  EXPECT_EQ(ValuesOf(Imported(kData + IntsText("c", {2, 0}, {2}) + OutputText("y") +
                              MlNode("ArrayFeatureExtractor", {"x", "c"}, {"y"}, ""))),
            "float32[2, 2]: 3 1 -6 4");
}

TEST(UpgradeMl, LinearModels) {
  EXPECT_EQ(Computed("LinearRegressor", FloatsAttribute("coefficients", {1, 1, 0, 0, 0, 1}) +
                                            FloatsAttribute("intercepts", {10, 20}) +
                                            IntAttribute("targets", 2)),
            "float32[2, 2]: 9 23 14 14");
  const auto model = Imported(kData + OutputText("label") + OutputText("score") +
                              MlNode("LinearClassifier", {"x"}, {"label", "score"},
                                     FloatsAttribute("coefficients", {1, 1, 0}) +
                                         FloatsAttribute("intercepts", {0}) +
                                         IntsAttribute("classlabels_ints", {5, 6})));
  EXPECT_EQ(ValuesOf(model), "int64[2]: 5 6");
  EXPECT_EQ(ValuesOf(model, 1), "float32[2, 2]: 1 -1 -4 4");
  EXPECT_EQ(
      Computed("SVMRegressor", FloatsAttribute("coefficients", {2, 1}) +
                                   FloatsAttribute("support_vectors", {1, 0, 0, 0, 1, 0}) +
                                   FloatsAttribute("rho", {0.5F}) + IntAttribute("n_supports", 2)),
      "float32[2, 1]: 0.5 8.5");
  EXPECT_EQ(Computed("LinearRegressor", FloatsAttribute("coefficients", {1})),
            "m: node 'n' (LinearRegressor, opset 3, inputs float32[2, 3]): attribute "
            "'coefficients' has 1 numbers for 1 targets and 3 features");
}

std::string Texts(const std::string& name, const std::vector<std::string>& values) {
  std::string text = "attribute { name: \"" + name + "\" type: STRINGS ";
  for (const std::string& value : values) text += "strings: \"" + value + "\" ";
  return text + "} ";
}

/// Tree 0: x0 <= 2 ? leaf 1 : leaf 2; tree 1 is one leaf.
const std::string kNodes = IntsAttribute("nodes_treeids", {0, 0, 0, 1}) +
                           IntsAttribute("nodes_nodeids", {0, 1, 2, 0}) +
                           IntsAttribute("nodes_featureids", {0, 0, 0, 0}) +
                           IntsAttribute("nodes_truenodeids", {1, 0, 0, 0}) +
                           IntsAttribute("nodes_falsenodeids", {2, 0, 0, 0}) +
                           FloatsAttribute("nodes_values", {2, 0, 0, 0}) +
                           Texts("nodes_modes", {"BRANCH_LEQ", "LEAF", "LEAF", "LEAF"});

std::string Leaves(const std::string& what, const std::vector<std::int64_t>& ids) {
  return IntsAttribute(what + "_treeids", {0, 0, 1}) + IntsAttribute(what + "_nodeids", {1, 2, 0}) +
         IntsAttribute(what + "_ids", ids) + FloatsAttribute(what + "_weights", {1, 2, 0.5F});
}

TEST(UpgradeTrees, RegressorOfTheOldForm) {
  EXPECT_EQ(Computed("TreeEnsembleRegressor", kNodes + Leaves("target", {0, 1, 1}) +
                                                  IntAttribute("n_targets", 2) +
                                                  FloatsAttribute("base_values", {100, 0})),
            "float32[2, 2]: 101 0.5 100 2.5");
  EXPECT_EQ(Computed("TreeEnsembleRegressor", kNodes + Leaves("target", {0, 0, 0}) +
                                                  TextAttribute("aggregate_function", "MIN")),
            "float32[2, 1]: 0.5 0.5");
}

TEST(UpgradeTrees, ClassifierOfTheOldForm) {
  const auto model = Imported(
      kData + OutputText("label") + OutputText("score") +
      MlNode("TreeEnsembleClassifier", {"x"}, {"label", "score"},
             kNodes + Leaves("class", {0, 1, 1}) + IntsAttribute("classlabels_int64s", {7, 8})));
  EXPECT_EQ(ValuesOf(model), "int64[2]: 7 8");
  EXPECT_EQ(ValuesOf(model, 1), "float32[2, 2]: 1 0.5 0 2.5");
}

TEST(UpgradeTrees, OneClassMeansTheOtherToo) {
  const auto model = Imported(
      kData + OutputText("label") + OutputText("score") +
      MlNode("TreeEnsembleClassifier", {"x"}, {"label", "score"},
             kNodes + Leaves("class", {0, 0, 0}) + IntsAttribute("classlabels_int64s", {0, 1})));
  EXPECT_EQ(ValuesOf(model), "int64[2]: 1 1");
  EXPECT_EQ(ValuesOf(model, 1), "float32[2, 2]: -0.5 1.5 -1.5 2.5");
}

TEST(UpgradeTrees, BrokenTables) {
  EXPECT_EQ(Computed("TreeEnsembleRegressor", kNodes + IntsAttribute("target_treeids", {0}) +
                                                  IntsAttribute("target_nodeids", {1}) +
                                                  IntsAttribute("target_ids", {0})),
            "m: node 'n' (TreeEnsembleRegressor, opset 3, inputs float32[2, 3]): the attributes "
            "that say what leaves add must all have equally many numbers");
}

TEST(UpgradeMl, NamesOfOtherDomainsAreUnknown) {
  EXPECT_EQ(ErrorOf(Imported(kData + OutputText("y") + MlNode("Relu", {"x"}, {"y"}, ""))),
            "m: node 'n' (Relu, opset 3, inputs float32[2, 3]): the operator is not supported; "
            "replace it by operators listed in docs/operators.md");
  EXPECT_EQ(ErrorOf(Imported(kData + OutputText("y") + NodeText("Relu", {"x"}, {"y"}))),
            "m: the model does not say which opset of the default domain it uses");
}

TEST(UpgradeMl, MapsAreNoTensors) {
  EXPECT_EQ(ErrorOf(Imported(kData + OutputText("y") + MlNode("ZipMap", {"x"}, {"y"}, ""))),
            "m: node 'n' (ZipMap, opset 3, inputs float32[2, 3]): a container holds tensors, no "
            "maps; export the classifier with the option zipmap=False, which makes the "
            "probabilities a tensor");
}

}  // namespace
}  // namespace poprt::frontend
