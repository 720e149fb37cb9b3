#include "compiler/frontend/inline_functions.hpp"

#include <gtest/gtest.h>

#include "compiler/frontend/model_text.hpp"

namespace poprt::frontend {
namespace {

absl::StatusOr<ImportedModel> Imported(const std::string& functions, const std::string& graph) {
  return ImportOnnxBytes(BytesOfText("ir_version: 8 opset_import { version: 17 } opset_import { "
                                     "domain: \"f\" version: 1 } " +
                                     functions + " graph { name: \"g\" " + graph + "}"),
                         "", {.model_name = "m"});
}

std::string Function(const std::string& name, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, const std::string& rest,
                     int opset = 17) {
  std::string text = "functions { domain: \"f\" name: \"" + name +
                     "\" opset_import { version: " + std::to_string(opset) +
                     " } opset_import { domain: \"f\" version: 1 } ";
  for (const std::string& input : inputs) text += "input: \"" + input + "\" ";
  for (const std::string& output : outputs) text += "output: \"" + output + "\" ";
  return text + rest + "} ";
}

std::string Call(const std::string& op, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs, const std::string& rest = "") {
  return NodeText(op, inputs, outputs, "domain: \"f\" " + rest);
}

const std::string kInput = InputText("x", {"2"}) + OutputText("y");

TEST(InlineFunctions, NestedWithUniqueNames) {
  const std::string functions =
      Function("Twice", {"a"}, {"b"},
               Call("Once", {"a"}, {"t"}, "name: \"first\"") + Call("Once", {"t"}, {"b"})) +
      Function("Once", {"a"}, {"b"},
               NodeText("Relu", {"a"}, {"t"}) + NodeText("Neg", {"t"}, {"b"}));
  EXPECT_EQ(TextOf(Imported(functions, kInput + Call("Twice", {"x"}, {"t"}, "name: \"c\"") +
                                           NodeText("Abs", {"t"}, {"y"}))),
            "graph m(x)\n"
            "  c/first/t = Relu(x) : float32[2]\n"
            "  c/t = Neg(c/first/t) : float32[2]\n"
            "  c/Once/t = Relu(c/t) : float32[2]\n"
            "  t = Neg(c/Once/t) : float32[2]\n"
            "  y = Abs(t) : float32[2]\n"
            "  return y\n");
}

TEST(InlineFunctions, AttributesOfTheCall) {
  const std::string function =
      Function("Leak", {"a"}, {"b"},
               "attribute: \"slope\" " +
                   NodeText("LeakyRelu", {"a"}, {"b"},
                            "attribute { name: \"alpha\" type: FLOAT ref_attr_name: \"slope\" }"));
  EXPECT_EQ(TextOf(Imported(function,
                            kInput + Call("Leak", {"x"}, {"y"}, FloatAttribute("slope", 0.5F)))),
            "graph m(x)\n  y = LeakyRelu(x) alpha=0.5 : float32[2]\n  return y\n");
  EXPECT_EQ(TextOf(Imported(function, kInput + Call("Leak", {"x"}, {"y"}))),
            "graph m(x)\n  y = LeakyRelu(x) : float32[2]\n  return y\n");
}

TEST(InlineFunctions, OwnOpset) {
  const std::string function =
      Function("Rows", {"a"}, {"b"},
               NodeText("Squeeze", {"a"}, {"t"}, IntsAttribute("axes", {0})) +
                   NodeText("Add", {"t", "t"}, {"b"}, IntAttribute("broadcast", 1)),
               6);
  EXPECT_EQ(ValuesOf(Imported(function, FloatsText("w", {1, 2}, {1, 2}) + OutputText("y") +
                                            Call("Rows", {"w"}, {"y"}))),
            "float32[2]: 2 4");
}

TEST(InlineFunctions, OptionalOperands) {
  const std::string function =
      Function("Bound", {"a", "low"}, {"b", "same"},
               NodeText("Clip", {"a", "low"}, {"b"}) + NodeText("Identity", {"a"}, {"same"}));
  EXPECT_EQ(TextOf(Imported(function, kInput + Call("Bound", {"x"}, {"y"}))),
            "graph m(x)\n  y = Clip(x) : float32[2]\n  return y\n");
  EXPECT_EQ(ErrorOf(Imported(function, kInput + Call("Bound", {"x", "x", "x"}, {"y"}))),
            "m: node '<unnamed>' with output 'y' (Bound) has 3 inputs and 1 outputs, the function "
            "it calls has only 2 and 2");
}

TEST(InlineFunctions, OutputsThatAreInputs) {
  EXPECT_EQ(
      TextOf(Imported(Function("Same", {"a"}, {"a"}, ""), kInput + Call("Same", {"x"}, {"y"}))),
      "graph m(x)\n  y = Identity(x) : float32[2]\n  return y\n");
}

TEST(InlineFunctions, CirclesAreRefused) {
  const std::string functions = Function("A", {"a"}, {"b"}, Call("B", {"a"}, {"b"})) +
                                Function("B", {"a"}, {"b"}, Call("A", {"a"}, {"b"}));
  EXPECT_EQ(ErrorOf(Imported(functions, kInput + Call("A", {"x"}, {"y"}))),
            "m: functions call each other in a circle: 'A', 'B'");
  const std::string twice = Function("A", {"a"}, {"b"}, "") + Function("A", {"a"}, {"b"}, "");
  EXPECT_EQ(ErrorOf(Imported(twice, kInput + Call("A", {"x"}, {"y"}))),
            "m: function 'A' of domain 'f' is defined twice");
}

TEST(InlineFunctions, ExplosionsAreRefused) {
  std::string functions = Function("F0", {"a"}, {"b"}, NodeText("Relu", {"a"}, {"b"}));
  for (int i = 1; i < 30; ++i) {
    const std::string below = "F" + std::to_string(i - 1);
    functions += Function("F" + std::to_string(i), {"a"}, {"b"},
                          Call(below, {"a"}, {"t"}) + Call(below, {"t"}, {"b"}));
  }
  const auto model = Imported(functions, kInput + Call("F29", {"x"}, {"y"}));
  EXPECT_EQ(ErrorOf(model), "m: functions make more than 250000 nodes of the model");
}

}  // namespace
}  // namespace poprt::frontend
