#include <gtest/gtest.h>

#include "compiler/frontend/model_text.hpp"

namespace poprt::frontend {
namespace {

/// The result of nodes that compute y from constants.
std::string Computed(int opset, const std::string& graph) {
  return ValuesOf(ImportText(OutputText("y") + graph, opset));
}

const std::string kMatrix = FloatsText("a", {1, 2, 3, 4, 5, 6}, {2, 3});

TEST(UpgradeLegacy, BroadcastOnRequest) {
  const std::string row = FloatsText("b", {10, 20, 30}, {3});
  const std::string column = FloatsText("b", {10, 20}, {2});
  const std::string broadcast = IntAttribute("broadcast", 1);
  EXPECT_EQ(Computed(6, kMatrix + row + NodeText("Add", {"a", "b"}, {"y"}, broadcast)),
            "float32[2, 3]: 11 22 33 14 25 36");
  EXPECT_EQ(Computed(1, kMatrix + column +
                            NodeText("Sub", {"a", "b"}, {"y"},
                                     broadcast + IntAttribute("axis", 0) +
                                         IntsAttribute("consumed_inputs", {0, 0}))),
            "float32[2, 3]: -9 -8 -7 -16 -15 -14");
  EXPECT_EQ(Computed(6, kMatrix + FloatsText("b", {2}, {1}) +
                            NodeText("Pow", {"a", "b"}, {"y"}, broadcast)),
            "float32[2, 3]: 1 4 9 16 25 36");
  EXPECT_EQ(Computed(6, kMatrix + row + NodeText("Mul", {"a", "b"}, {"y"}, "name: \"n\"")),
            "m: node 'n' (Mul, opset 6, inputs float32[2, 3], float32[3]): inputs of the shapes "
            "[2, 3] and [3] must be equal before opset 7 unless attribute 'broadcast' is 1");
  EXPECT_EQ(Computed(6, kMatrix + column +
                            NodeText("Mul", {"a", "b"}, {"y"},
                                     "name: \"n\" " + broadcast + IntAttribute("axis", 1))),
            "m: node 'n' (Mul, opset 6, inputs float32[2, 3], float32[2]): input 1, [2], cannot be "
            "broadcast to input 0, [2, 3]");
  EXPECT_EQ(Computed(6, kMatrix + column +
                            NodeText("Mul", {"a", "b"}, {"y"},
                                     "name: \"n\" " + broadcast + IntAttribute("axis", 2))),
            "m: node 'n' (Mul, opset 6, inputs float32[2, 3], float32[2]): attribute 'axis' is 2, "
            "which does not place input 1, [2], within the 2 dimensions of input 0");
}

TEST(UpgradeLegacy, GemmAddsARow) {
  EXPECT_EQ(Computed(6, FloatsText("a", {1, 2}, {1, 2}) + FloatsText("b", {1, 0, 0, 1}, {2, 2}) +
                            FloatsText("c", {5, 6}, {2}) +
                            NodeText("Gemm", {"a", "b", "c"}, {"y"}, IntAttribute("broadcast", 1))),
            "float32[1, 2]: 6 8");
}

TEST(UpgradeLegacy, SlopesOfChannels) {
  EXPECT_EQ(Computed(6, FloatsText("a", {-1, -2, -3, -4}, {1, 2, 2}) +
                            FloatsText("s", {10, 100}, {2}) + NodeText("PRelu", {"a", "s"}, {"y"})),
            "float32[1, 2, 2]: -10 -20 -300 -400");
}

TEST(UpgradeLegacy, NamesAndDefaultsOfAttributes) {
  EXPECT_EQ(Computed(5, FloatsText("a", {1.5, -2}, {2}) +
                            NodeText("Cast", {"a"}, {"y"}, TextAttribute("to", "INT32"))),
            "int32[2]: 1 -2");
  EXPECT_EQ(Computed(5, FloatsText("a", {1}, {1}) +
                            NodeText("Cast", {"a"}, {"y"},
                                     "name: \"c\" " + TextAttribute("to", "COMPLEX"))),
            "m: node 'c' (Cast, opset 5, inputs float32[1]): attribute 'to' is 'COMPLEX', which is "
            "no element type");
  EXPECT_EQ(Computed(3, kMatrix + NodeText("Concat", {"a", "a"}, {"y"})),
            "float32[2, 6]: 1 2 3 1 2 3 4 5 6 4 5 6");
  EXPECT_EQ(
      Computed(1, FloatsText("a", {1}, {1, 1}) + NodeText("Pad", {"a"}, {"y"},
                                                          IntsAttribute("paddings", {0, 1, 0, 0}) +
                                                              FloatAttribute("value", 7))),
      "float32[1, 2]: 7 1");
  EXPECT_EQ(Computed(1, FloatsText("a", {2, -1}, {2}) +
                            NodeText("Selu", {"a"}, {"y"}, FloatAttribute("alpha", 0))),
            "float32[2]: 2.1014 -0");
  EXPECT_EQ(Computed(1, FloatsText("a", {3, 4}, {1, 1, 2}) +
                            NodeText("GlobalLpPool", {"a"}, {"y"}, FloatAttribute("p", 2))),
            "float32[1, 1, 1]: 5");
}

TEST(UpgradeLegacy, TileOfOneAxis) {
  EXPECT_EQ(
      Computed(5, FloatsText("a", {1, 2}, {1, 2}) + FloatsText("n", {2}, {1}) +
                      FloatsText("axis", {0}, {1}) + NodeText("Tile", {"a", "n", "axis"}, {"y"})),
      "float32[2, 2]: 1 2 1 2");
}

TEST(UpgradeLegacy, UpsampleOfImages) {
  EXPECT_EQ(Computed(1, FloatsText("a", {1, 2}, {1, 1, 1, 2}) +
                            NodeText("Upsample", {"a"}, {"y"},
                                     FloatAttribute("height_scale", 2) +
                                         FloatAttribute("width_scale", 1) +
                                         TextAttribute("mode", "nearest"))),
            "float32[1, 1, 2, 2]: 1 2 1 2");
}

TEST(UpgradeLegacy, ModelsOlderThanOpsets) {
  const auto model = ImportOnnxBytes(
      BytesOfText("ir_version: 2 graph { name: \"g\" " + OutputText("y") + kMatrix +
                  NodeText("Reshape", {"a"}, {"y"}, IntsAttribute("shape", {3, 2})) + "}"),
      "", {.model_name = "m"});
  EXPECT_EQ(ValuesOf(model), "float32[3, 2]: 1 2 3 4 5 6");
  EXPECT_EQ(model->opset, 1);
}

TEST(UpgradeExperimental, OperatorsOfOtherFrameworks) {
  const std::string image = FloatsText("a", {1, 2, 3, 4}, {1, 1, 2, 2});
  const auto computed = [&](const std::string& op, const std::string& attributes) {
    return Computed(1, image + NodeText(op, {"a"}, {"y"}, attributes));
  };
  const std::string floats = "type: FLOATS ";
  EXPECT_EQ(computed("Affine", FloatAttribute("alpha", 2) + FloatAttribute("beta", 1)),
            "float32[1, 1, 2, 2]: 3 5 7 9");
  EXPECT_EQ(computed("Scale", FloatAttribute("scale", 3)), "float32[1, 1, 2, 2]: 3 6 9 12");
  EXPECT_EQ(computed("ImageScaler", FloatAttribute("scale", 2) + "attribute { name: \"bias\" " +
                                        floats + "floats: 10 } "),
            "float32[1, 1, 2, 2]: 12 14 16 18");
  EXPECT_EQ(computed("Crop", IntsAttribute("border", {1, 0, 0, 1})), "float32[1, 1, 1, 1]: 2");
  EXPECT_EQ(
      computed("Crop", IntsAttribute("border", {0, 1, 0, 0}) + IntsAttribute("scale", {1, 2})),
      "float32[1, 1, 1, 2]: 3 4");
  EXPECT_EQ(computed("MeanVarianceNormalization", IntAttribute("normalize_variance", 0)),
            "float32[1, 1, 2, 2]: -1.5 -0.5 0.5 1.5");
  EXPECT_EQ(Computed(1, FloatsText("a", {0}, {1}) +
                            NodeText("ScaledTanh", {"a"}, {"y"},
                                     FloatAttribute("alpha", 2) + FloatAttribute("beta", 3))),
            "float32[1]: 0");
  EXPECT_EQ(Computed(1, NodeText("ConstantFill", {}, {"y"},
                                 IntsAttribute("shape", {2}) + FloatAttribute("value", 4))),
            "float32[2]: 4 4");
  EXPECT_EQ(Computed(1, NodeText("GivenTensorFill", {}, {"y"},
                                 IntsAttribute("shape", {2}) + "attribute { name: \"values\" " +
                                     floats + "floats: 1 floats: 2 } ")),
            "float32[2]: 1 2");
}

}  // namespace
}  // namespace poprt::frontend
