#include "compiler/frontend/upgrade/upgrade.hpp"

#include <gtest/gtest.h>

#include "compiler/frontend/model_text.hpp"

namespace poprt::frontend {
namespace {

/// Imports a model whose input x of that shape goes into one node, followed by what the node needs.
std::string Upgraded(int opset, const std::vector<std::string>& x, const std::string& nodes) {
  return TextOf(ImportText(InputText("x", x) + OutputText("y") + nodes, opset));
}

std::string OneLine(const std::string& body) { return "graph m(x)\n  " + body + "\n  return y\n"; }

TEST(Upgrade, SoftmaxOfMatricesIsPlain) {
  EXPECT_EQ(Upgraded(11, {"2", "3"}, NodeText("Softmax", {"x"}, {"y"})),
            OneLine("y = Softmax(x) axis=1 : float32[2, 3]"));
  EXPECT_EQ(Upgraded(9, {"1", "10", "1", "1"}, NodeText("LogSoftmax", {"x"}, {"y"})),
            OneLine("y = LogSoftmax(x) axis=1 : float32[1, 10, 1, 1]"));
  EXPECT_EQ(Upgraded(9, {"2", "1", "1", "7"}, NodeText("Softmax", {"x"}, {"y"})),
            OneLine("y = Softmax(x) axis=3 : float32[2, 1, 1, 7]"));
  EXPECT_EQ(
      Upgraded(13, {"2", "3", "4"}, NodeText("Softmax", {"x"}, {"y"}, IntAttribute("axis", 1))),
      OneLine("y = Softmax(x) axis=1 : float32[2, 3, 4]"));
}

TEST(Upgrade, SoftmaxOfMoreDimensionsFlattens) {
  EXPECT_EQ(Upgraded(11, {"2", "3", "4"}, NodeText("Softmax", {"x"}, {"y"}, "name: \"s\"")),
            "graph m(x)\n"
            "  s/flatten:0 = Reshape(x) allowzero=1 shape=[2, 12] : float32[2, 12]\n"
            "  s/Softmax:0 = Softmax(s/flatten:0) axis=1 : float32[2, 12]\n"
            "  y = Reshape(s/Softmax:0) allowzero=1 shape=[2, 3, 4] : float32[2, 3, 4]\n"
            "  return y\n");
  EXPECT_EQ(Upgraded(11, {"2", "3"},
                     NodeText("Softmax", {"x"}, {"y"}, "name: \"s\" " + IntAttribute("axis", 2))),
            "m: node 's' (Softmax, opset 11, inputs float32[2, 3]): attribute 'axis' is 2, outside "
            "the 2 dimensions of the input");
}

TEST(Upgrade, RangeOfHalvesHasAChoiceOfPrecision) {
  const auto range = [](int element, std::int64_t stash) {
    const auto half = [&](const char* name, int bits) {
      return "initializer { name: \"" + std::string(name) +
             "\" data_type: " + std::to_string(element) + " int32_data: " + std::to_string(bits) +
             " } ";
    };
    // 0, 1 and 0.5 in float16.
    return ValuesOf(ImportText(half("a", 0) + half("b", 0x3C00) + half("c", 0x3800) +
                                   OutputText("y") +
                                   NodeText("Range", {"a", "b", "c"}, {"r"},
                                            "name: \"r\" " + IntAttribute("stash_type", stash)) +
                                   NodeText("Cast", {"r"}, {"y"}, IntAttribute("to", 1)),
                               27));
  };
  EXPECT_EQ(range(10, 1), "float32[2]: 0 0.5");
  EXPECT_EQ(range(10, 11), "float32[2]: 0 0.5");
  EXPECT_EQ(range(10, 10),
            "m: node 'r' (Range, opset 27, inputs float16[], float16[], float16[]): attribute "
            "'stash_type' is 10, allowed are 1 (float32) and 11 (float64)");
  // Other types are computed in themselves: 0x3C00 in steps of 0x3800.
  EXPECT_EQ(range(6, 10), "float32[2]: 0 14336");
}

const std::string kFour = FloatsText("p", {1, 2, 3}, {3});

TEST(Upgrade, BatchNormalization) {
  const auto node = [](const std::vector<std::string>& outputs, const std::string& rest) {
    return kFour + NodeText("BatchNormalization", {"x", "p", "p", "p", "p"}, outputs,
                            "name: \"b\" " + rest);
  };
  EXPECT_EQ(
      Upgraded(7, {"1", "3", "2"}, node({"y", "m", "v", "sm", "sv"}, IntAttribute("spatial", 1))),
      OneLine("y = BatchNormalization(x, p, p, p, p) : float32[1, 3, 2]"));
}

TEST(Upgrade, ClipBoundsBecomeInputs) {
  EXPECT_EQ(
      Upgraded(6 + 1, {"2"},
               NodeText("Clip", {"x"}, {"y"},
                        "name: \"c\" " + FloatAttribute("min", 0) + FloatAttribute("max", 6))),
      OneLine("y = Clip(x, c/min, c/max) : float32[2]"));
  EXPECT_EQ(
      Upgraded(7, {"2"}, NodeText("Clip", {"x"}, {"y"}, "name: \"c\" " + FloatAttribute("max", 6))),
      OneLine("y = Clip(x, -, c/max) : float32[2]"));
  EXPECT_EQ(Upgraded(7, {"2"}, NodeText("Clip", {"x"}, {"y"})),
            OneLine("y = Clip(x) : float32[2]"));
}

TEST(Upgrade, PadValueBecomesAnInput) {
  EXPECT_EQ(Upgraded(10, {"2", "2"},
                     NodeText("Pad", {"x"}, {"y"},
                              "name: \"p\" " + IntsAttribute("pads", {0, 1, 0, 1}) +
                                  FloatAttribute("value", 2))),
            OneLine("y = Pad(x, p/value) pads=[0, 1, 0, 1] : float32[2, 4]"));
}

TEST(Upgrade, AttributesThatBecameInputsStayAttributes) {
  EXPECT_EQ(Upgraded(9, {"4", "4"},
                     NodeText("Slice", {"x"}, {"y"},
                              IntsAttribute("starts", {1}) + IntsAttribute("ends", {3}) +
                                  IntsAttribute("axes", {0}))),
            OneLine("y = Slice(x) axes=[0] ends=[3] starts=[1] : float32[2, 4]"));
  EXPECT_EQ(Upgraded(11, {"4", "1"}, NodeText("Squeeze", {"x"}, {"y"}, IntsAttribute("axes", {1}))),
            OneLine("y = Squeeze(x) axes=[1] : float32[4]"));
  EXPECT_EQ(Upgraded(13, {"4", "1"},
                     IntsText("axes", {1}, {1}) + NodeText("Squeeze", {"x", "axes"}, {"y"})),
            OneLine("y = Squeeze(x) axes=[1] : float32[4]"));
  EXPECT_EQ(Upgraded(9, {"4"}, NodeText("TopK", {"x"}, {"y", "i"}, IntAttribute("k", 2))),
            OneLine("y = TopK(x) k=[2] : float32[2]"));
  EXPECT_EQ(Upgraded(13, {"4", "2"},
                     "initializer { name: \"axes\" data_type: 7 dims: 0 } " +
                         NodeText("ReduceSum", {"x", "axes"}, {"y"})),
            OneLine("y = ReduceSum(x) : float32[1, 1]"));
}

TEST(Upgrade, UpsampleAndFirstResize) {
  const std::string scales = "attribute { name: \"scales\" type: FLOATS floats: 1 floats: 2 } ";
  EXPECT_EQ(Upgraded(7, {"1", "2"}, NodeText("Upsample", {"x"}, {"y"}, scales)),
            OneLine("y = Resize(x) coordinate_transformation_mode=\"asymmetric\" "
                    "nearest_mode=\"floor\" scales=[1, 2] : float32[1, 4]"));
  EXPECT_EQ(Upgraded(9, {"1", "2"},
                     FloatsText("s", {1, 3}, {2}) +
                         NodeText("Upsample", {"x", "s"}, {"y"}, TextAttribute("mode", "linear"))),
            OneLine("y = Resize(x) coordinate_transformation_mode=\"asymmetric\" mode=\"linear\" "
                    "nearest_mode=\"floor\" scales=[1, 3] : float32[1, 6]"));
  EXPECT_EQ(Upgraded(10, {"2", "4"},
                     FloatsText("s", {1, 0.5F}, {2}) + NodeText("Resize", {"x", "s"}, {"y"})),
            OneLine("y = Resize(x) coordinate_transformation_mode=\"asymmetric\" "
                    "nearest_mode=\"ceil\" scales=[1, 0.5] : float32[2, 2]"));
  EXPECT_EQ(Upgraded(10, {"2", "4"},
                     FloatsText("s", {2, 0.5F}, {2}) +
                         NodeText("Resize", {"x", "s"}, {"y"}, "name: \"r\"")),
            "graph m(x)\n"
            "  r/reduced:0 = Resize(x) coordinate_transformation_mode=\"asymmetric\" "
            "nearest_mode=\"ceil\" scales=[1, 0.5] : float32[2, 2]\n"
            "  y = Resize(r/reduced:0) coordinate_transformation_mode=\"asymmetric\" "
            "nearest_mode=\"floor\" scales=[2, 1] : float32[4, 2]\n"
            "  return y\n");
  EXPECT_EQ(Upgraded(10, {"2", "4"},
                     InputText("s", {"2"}) + NodeText("Resize", {"x", "s"}, {"y"}, "name: \"r\"")),
            "m: node 'r' (Resize, opset 10, inputs float32[2, 4], float32[2]): input 2 (scales) is "
            "'s', which must be known when compiling; freeze the value or fix the shape that it "
            "comes from");
}

TEST(Upgrade, ResizeWithoutTheLastHalfPixel) {
  const auto resize = [](const std::string& rest) {
    return FloatsText("s", {1, 3}, {2}) +
           NodeText("Resize", {"x", "", "s"}, {"y"},
                    TextAttribute("coordinate_transformation_mode", "tf_half_pixel_for_nn") + rest);
  };
  EXPECT_EQ(Upgraded(11, {"1", "2"}, resize(TextAttribute("nearest_mode", "floor"))),
            OneLine("y = Resize(x) coordinate_transformation_mode=\"half_pixel\" "
                    "nearest_mode=\"round_prefer_ceil\" scales=[1, 3] : float32[1, 6]"));
  EXPECT_EQ(Upgraded(11, {"1", "2"}, resize("")),
            OneLine("y = Resize(x) coordinate_transformation_mode=\"half_pixel\" "
                    "nearest_mode=\"ceil\" scales=[1, 3] : float32[1, 6]"));
  EXPECT_EQ(Upgraded(11, {"1", "2"}, resize(TextAttribute("mode", "linear"))),
            OneLine("y = Resize(x) coordinate_transformation_mode=\"tf_half_pixel_for_nn\" "
                    "mode=\"linear\" scales=[1, 3] : float32[1, 6]"));
}

TEST(Upgrade, ResizeForgetsEmptyInputs) {
  EXPECT_EQ(
      Upgraded(11, {"1", "2"},
               "initializer { name: \"e\" data_type: 1 dims: 0 } " + IntsText("n", {1, 6}, {2}) +
                   NodeText("Resize", {"x", "e", "e", "n"}, {"y"})),
      OneLine("y = Resize(x) sizes=[1, 6] : float32[1, 6]"));
}

TEST(Upgrade, DropoutIsIdentity) {
  EXPECT_EQ(Upgraded(7, {"2"}, NodeText("Dropout", {"x"}, {"y"}, FloatAttribute("ratio", 0.3F))),
            OneLine("y = Identity(x) : float32[2]"));
  const auto model = ImportText(InputText("x", {"2"}) + OutputText("y") + OutputText("mask") +
                                NodeText("Dropout", {"x"}, {"y", "mask"}));
  ASSERT_TRUE(model.ok()) << ErrorOf(model);
  EXPECT_EQ(model->graph.output_names[1], "mask");
  const Tensor* mask = model->graph.ConstantOf(model->graph.outputs[1]);
  ASSERT_NE(mask, nullptr);
  EXPECT_EQ(ToString(mask->type()), "bool[2]");
  EXPECT_EQ(mask->as<std::uint8_t>()[1], 1);
}

TEST(Upgrade, RenamedOperators) {
  EXPECT_EQ(
      Upgraded(15, {"2"}, IntsText("like", {1}, {1}) + NodeText("CastLike", {"x", "like"}, {"y"})),
      OneLine("y = Cast(x) to=7 : int64[2]"));
  EXPECT_EQ(Upgraded(9, {"3"},
                     IntsText("i", {1}, {1}) + FloatsText("u", {5}, {1}) +
                         NodeText("Scatter", {"x", "i", "u"}, {"y"})),
            OneLine("y = ScatterElements(x, i, u) : float32[3]"));
}

TEST(Upgrade, OneHotCountsInIntegers) {
  EXPECT_EQ(TextOf(ImportText(InputText("x", {"2"}, 7) + OutputText("y") +
                              FloatsText("depth", {3}, {}) + FloatsText("values", {0, 1}, {2}) +
                              NodeText("OneHot", {"x", "depth", "values"}, {"y"}))),
            OneLine("y = OneHot(x, values) depth=[3] : float32[2, 3]"));
}

TEST(Upgrade, GroupNormalizationOfGroups) {
  const auto model = ImportText(
      InputText("x", {"1", "4", "2"}) + OutputText("y") + FloatsText("s", {1, 2}, {2}) +
          FloatsText("b", {3, 4}, {2}) +
          NodeText("GroupNormalization", {"x", "s", "b"}, {"y"}, IntAttribute("num_groups", 2)),
      18);
  ASSERT_TRUE(model.ok()) << ErrorOf(model);
  ASSERT_EQ(model->graph.nodes.size(), 1U);
  const Tensor* scale = model->graph.ConstantOf(model->graph.nodes[0].inputs[1]);
  ASSERT_NE(scale, nullptr);
  const auto values = scale->as<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), (std::vector<float>{1, 1, 2, 2}));
}

TEST(Upgrade, SplitChecksTheNumberOfOutputs) {
  EXPECT_EQ(
      Upgraded(
          18, {"4"},
          NodeText("Split", {"x"}, {"y", "z"}, "name: \"s\" " + IntAttribute("num_outputs", 3))),
      "m: node 's' (Split, opset 18, inputs float32[4]): attribute 'num_outputs' is 3, but the "
      "node has 2 outputs");
  EXPECT_EQ(
      TextOf(ImportText(InputText("x", {"5"}) + OutputText("y") + OutputText("z") +
                            NodeText("Split", {"x"}, {"y", "z"}, IntAttribute("num_outputs", 2)),
                        18)),
      "graph m(x)\n  y, z = Split(x) : float32[3]\n  return y, z\n");
}

TEST(Upgrade, CastsToNarrowIntegersSaturatedOnce) {
  const std::string node = NodeText("Cast", {"x"}, {"y"}, "name: \"c\" " + IntAttribute("to", 22));
  EXPECT_EQ(Upgraded(21, {"2"}, node),
            "graph m(x)\n"
            "  c/saturate:0 = Clip(x, c/lowest, c/highest) : float32[2]\n"
            "  y = Cast(c/saturate:0) to=22 : int4[2]\n"
            "  return y\n");
  EXPECT_EQ(Upgraded(24, {"2"}, node), OneLine("y = Cast(x) to=22 : int4[2]"));
}

TEST(Upgrade, CastKeepsWhatItsTypeHeeds) {
  const std::string saturate = IntAttribute("saturate", 0);
  EXPECT_EQ(Upgraded(21, {"2"}, NodeText("Cast", {"x"}, {"y"}, saturate + IntAttribute("to", 19))),
            OneLine("y = Cast(x) saturate=0 to=19 : float8e5m2[2]"));
  EXPECT_EQ(Upgraded(21, {"2"}, NodeText("Cast", {"x"}, {"y"}, saturate + IntAttribute("to", 10))),
            OneLine("y = Cast(x) to=10 : float16[2]"));
}

TEST(Upgrade, CastLikeKeepsSaturate) {
  EXPECT_EQ(Upgraded(21, {"2"},
                     InputText("like", {}, 17) +
                         NodeText("CastLike", {"x", "like"}, {"y"}, IntAttribute("saturate", 0))),
            "graph m(x, like)\n"
            "  y = Cast(x) saturate=0 to=17 : float8e4m3fn[2]\n"
            "  return y\n");
}

TEST(Upgrade, QuantizeLinearDropsZeros) {
  EXPECT_EQ(Upgraded(23, {"2"},
                     FloatsText("s", {0.5F}, {}) +
                         NodeText("QuantizeLinear", {"x", "s"}, {"y"},
                                  IntAttribute("block_size", 0) + IntAttribute("output_dtype", 0) +
                                      IntAttribute("precision", 0))),
            OneLine("y = QuantizeLinear(x, s) : uint8[2]"));
}

}  // namespace
}  // namespace poprt::frontend
