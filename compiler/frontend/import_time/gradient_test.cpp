#include <gtest/gtest.h>

#include "compiler/frontend/import.hpp"
#include "compiler/frontend/model_text.hpp"

namespace poprt::frontend {
namespace {

std::string StringsAttribute(const std::string& name, const std::vector<std::string>& values) {
  std::string text = "attribute { name: \"" + name + "\" type: STRINGS ";
  for (const std::string& value : values) text += "strings: \"" + value + "\" ";
  return text + "} ";
}

/// Gradient of y by xs, named "g", whose outputs are g0, g1 and so on.
std::string GradientText(const std::vector<std::string>& inputs, const std::vector<std::string>& xs,
                         const std::string& y, const std::string& rest = "") {
  std::string text;
  std::vector<std::string> outputs;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    outputs.push_back("g" + std::to_string(i));
    text += OutputText(outputs.back());
  }
  return text + NodeText("Gradient", inputs, outputs,
                         "name: \"g\" domain: \"ai.onnx.preview.training\" " +
                             StringsAttribute("xs", xs) + TextAttribute("y", y) + rest);
}

absl::StatusOr<ImportedModel> ImportTraining(const std::string& graph,
                                             const std::string& functions = "") {
  return ImportOnnxBytes(
      BytesOfText("ir_version: 8 opset_import { version: 17 } opset_import { domain: "
                  "\"ai.onnx.preview.training\" version: 1 } opset_import { domain: \"f\" version: "
                  "1 } " +
                  functions + "graph { name: \"g\" " + graph + "}"),
      "", {.model_name = "m"});
}

/// The values of the outputs, which are constant, or the error.
std::string Gradients(const std::string& graph) {
  const auto model = ImportTraining(graph);
  if (!model.ok()) return ErrorOf(model);
  std::string text;
  for (std::size_t i = 0; i < model->graph.outputs.size(); ++i) {
    text += (i == 0 ? "" : "; ") + ValuesOf(model, i);
  }
  return text;
}

/// The gradient of one operator's sum by its first input a.
std::string GradientOf(const std::string& op, const std::vector<std::string>& inputs,
                       const std::string& graph, const std::string& rest = "") {
  return Gradients(graph + NodeText(op, inputs, {"y"}, rest) + GradientText({"a"}, {"a"}, "y"));
}

TEST(Gradient, Add) {
  EXPECT_EQ(
      Gradients(FloatsText("a", {2}, {}) + FloatsText("b", {3}, {}) +
                NodeText("Add", {"a", "b"}, {"c"}) + GradientText({"a", "b"}, {"a", "b"}, "c")),
      "float32[]: 1; float32[]: 1");
}

TEST(Gradient, OfValuesUsedTwice) {
  // d = (a + b) * a
  EXPECT_EQ(Gradients(FloatsText("a", {2}, {}) + FloatsText("b", {3}, {}) +
                      NodeText("Add", {"a", "b"}, {"c"}) + NodeText("Mul", {"c", "a"}, {"d"}) +
                      GradientText({"a", "b"}, {"a", "b"}, "d")),
            "float32[]: 7; float32[]: 2");
  EXPECT_EQ(GradientOf("Mul", {"a", "a"}, FloatsText("a", {1, -3}, {2})), "float32[2]: 2 -6");
}

TEST(Gradient, AtOtherValuesThanTheGraphs) {
  // d = b * b * c at b = 5, although b is 4 in the graph; c is given 10 in place of 3.
  const std::string graph =
      FloatsText("a", {2}, {}) + FloatsText("c", {3}, {}) + FloatsText("five", {5}, {}) +
      FloatsText("ten", {10}, {}) + NodeText("Mul", {"a", "a"}, {"b"}) +
      NodeText("Mul", {"b", "b"}, {"s"}) + NodeText("Mul", {"s", "c"}, {"d"}) + OutputText("d");
  EXPECT_EQ(Gradients(graph + GradientText({"five"}, {"b"}, "d")), "float32[]: 48; float32[]: 30");
  EXPECT_EQ(
      Gradients(graph + GradientText({"five", "ten"}, {"b"}, "d", StringsAttribute("zs", {"c"}))),
      "float32[]: 48; float32[]: 100");
}

TEST(Gradient, BroadcastingIsUndone) {
  EXPECT_EQ(Gradients(FloatsText("x", {1, 2, 3, 4, 5, 6}, {2, 3}) +
                      FloatsText("b", {1, 2, 3}, {3}) + FloatsText("s", {7, 8}, {2, 1}) +
                      NodeText("Add", {"x", "b"}, {"t"}) + NodeText("Mul", {"t", "s"}, {"y"}) +
                      GradientText({"x", "b", "s"}, {"x", "b", "s"}, "y")),
            "float32[2, 3]: 7 7 7 8 8 8; float32[3]: 15 15 15; float32[2, 1]: 12 21");
}

TEST(Gradient, MatMulChain) {
  // y = sum((x w)^2): dx = 2 (x w) w^T, dw = x^T 2 (x w) with x w = [11 16].
  EXPECT_EQ(Gradients(FloatsText("x", {1, 2}, {1, 2}) + FloatsText("w", {3, 4, 4, 6}, {2, 2}) +
                      FloatsText("two", {2}, {}) + NodeText("MatMul", {"x", "w"}, {"t"}) +
                      NodeText("Pow", {"t", "two"}, {"p"}) +
                      NodeText("ReduceSum", {"p"}, {"y"}, IntAttribute("keepdims", 0)) +
                      GradientText({"x", "w"}, {"x", "w"}, "y")),
            "float32[1, 2]: 194 280; float32[2, 2]: 22 32 44 64");
}

TEST(Gradient, Rules) {
  const std::string a = FloatsText("a", {0.5F, 2}, {2});
  const std::string b = FloatsText("b", {4, 8}, {2});
  const std::string zero = FloatsText("a", {0, 0}, {2});
  EXPECT_EQ(GradientOf("Sub", {"b", "a"}, a + b), "float32[2]: -1 -1");
  EXPECT_EQ(GradientOf("Div", {"a", "b"}, a + b), "float32[2]: 0.25 0.125");
  EXPECT_EQ(GradientOf("Div", {"b", "a"}, a + b), "float32[2]: -16 -2");
  EXPECT_EQ(GradientOf("Neg", {"a"}, a), "float32[2]: -1 -1");
  EXPECT_EQ(GradientOf("Identity", {"a"}, a), "float32[2]: 1 1");
  EXPECT_EQ(GradientOf("Exp", {"a"}, zero), "float32[2]: 1 1");
  EXPECT_EQ(GradientOf("Log", {"a"}, a), "float32[2]: 2 0.5");
  EXPECT_EQ(GradientOf("Sqrt", {"a"}, FloatsText("a", {4, 0.25F}, {2})), "float32[2]: 0.25 1");
  EXPECT_EQ(GradientOf("Relu", {"a"}, FloatsText("a", {-1, 0, 3}, {3})), "float32[3]: 0 0 1");
  EXPECT_EQ(GradientOf("Sigmoid", {"a"}, zero), "float32[2]: 0.25 0.25");
  EXPECT_EQ(GradientOf("Tanh", {"a"}, zero), "float32[2]: 1 1");
  EXPECT_EQ(GradientOf("Sum", {"a", "b", "a"}, a + b), "float32[2]: 2 2");
  EXPECT_EQ(GradientOf("Pow", {"a", "n"}, a + IntsText("n", {3}, {})), "float32[2]: 0.75 12");
  EXPECT_EQ(GradientOf("Pow", {"a", "n"}, zero + IntsText("n", {0, 1}, {2})), "float32[2]: 0 1");
  EXPECT_EQ(GradientOf("Cast", {"a"}, a, IntAttribute("to", 11)), "float32[2]: 1 1");
  EXPECT_EQ(GradientOf("ReduceMean", {"a"}, FloatsText("a", {1, 2, 3, 4}, {2, 2}),
                       IntsAttribute("axes", {-1}) + IntAttribute("keepdims", 0)),
            "float32[2, 2]: 0.5 0.5 0.5 0.5");
  EXPECT_EQ(GradientOf("Expand", {"a", "n"}, a + IntsText("n", {3, 2}, {2})), "float32[2]: 3 3");
}

TEST(Gradient, MovementsAreUndone) {
  // The gradient by a is b as a has its elements.
  const std::string tensors =
      FloatsText("a", {0, 0, 0, 0, 0, 0}, {2, 3}) + FloatsText("b", {1, 2, 3, 4, 5, 6}, {3, 2});
  const std::string rest = NodeText("Mul", {"t", "b"}, {"y"}) + GradientText({"a"}, {"a"}, "y");
  EXPECT_EQ(Gradients(tensors + NodeText("Transpose", {"a"}, {"t"}) + rest),
            "float32[2, 3]: 1 3 5 2 4 6");
  EXPECT_EQ(Gradients(tensors + IntsText("s", {3, 2}, {2}) +
                      NodeText("Reshape", {"a", "s"}, {"t"}) + rest),
            "float32[2, 3]: 1 2 3 4 5 6");
}

TEST(Gradient, WhereNothingDependsOnIt) {
  const std::string graph =
      FloatsText("a", {2, 3}, {2}) + FloatsText("b", {3}, {}) + NodeText("Exp", {"b"}, {"y"});
  EXPECT_EQ(Gradients(graph + GradientText({"a"}, {"a"}, "y")), "float32[2]: 0 0");
  EXPECT_EQ(Gradients(graph + GradientText({"a"}, {"a"}, "a")), "float32[2]: 1 1");
}

TEST(Gradient, OfARunTimeTensor) {
  EXPECT_EQ(
      TextOf(ImportTraining(InputText("x", {"2"}) + InputText("w", {"2"}) +
                            NodeText("Mul", {"x", "w"}, {"y"}) + GradientText({"x"}, {"x"}, "y"))),
      "graph m(x, w)\n"
      "  g/Mul:0 = Mul(g/Expand:0, w) : float32[2]\n"
      "  return g/Mul:0\n");
}

TEST(Gradient, InAFunction) {
  const std::string function =
      "functions { name: \"F\" domain: \"f\" input: \"p\" output: \"g0\" opset_import { version: "
      "17 } opset_import { domain: \"ai.onnx.preview.training\" version: 1 } " +
      NodeText("Mul", {"p", "p"}, {"q"}) +
      NodeText("Gradient", {"p"}, {"g0"},
               "domain: \"ai.onnx.preview.training\" " + StringsAttribute("xs", {"p"}) +
                   TextAttribute("y", "q")) +
      "} ";
  EXPECT_EQ(ValuesOf(ImportTraining(FloatsText("a", {2, 3}, {2}) + OutputText("z") +
                                        NodeText("F", {"a"}, {"z"}, "domain: \"f\" "),
                                    function)),
            "float32[2]: 4 6");
}

TEST(Gradient, WhatIsNotSupported) {
  const std::string where = "m: node 'g' (Gradient, opset 1, inputs float32[2]): ";
  const std::string a = FloatsText("a", {1, 2}, {2});
  EXPECT_EQ(
      GradientOf("Softmax", {"a"}, a, "name: \"s\""),
      where +
          "the gradient of node 's' (Softmax) is not supported, supported are those of Add, "
          "Cast, Div, Exp, Expand, Flatten, Identity, Log, MatMul, Mul, Neg, Pow, ReduceMean, "
          "ReduceSum, Relu, Reshape, Sigmoid, Sqrt, Squeeze, Sub, Sum, Tanh, Transpose, "
          "Unsqueeze; write the node with these, or export the model with the backward pass "
          "spelled out");
  const auto problem = [&](const std::string& text) { return text.substr(where.size()); };
  EXPECT_EQ(problem(GradientOf("MatMul", {"a", "a"}, a, "name: \"s\"")),
            "the gradient of node 's' (MatMul) with a vector is not supported; reshape it to a "
            "matrix");
  EXPECT_EQ(problem(GradientOf("Pow", {"b", "a"}, a + FloatsText("b", {1}, {}), "name: \"s\"")),
            "the gradient of node 's' (Pow) by its exponent is not supported; the exponent must "
            "not depend on what is differentiated by");
  EXPECT_EQ(problem(Gradients(a + GradientText({"a"}, {"b"}, "a"))),
            "attributes 'xs', 'zs' and 'y' name 'b', which no node, input or initializer of its "
            "graph defines");
  EXPECT_EQ(problem(Gradients(a + GradientText({"a"}, {"a"}, "a", StringsAttribute("zs", {"a"})))),
            "has 1 inputs, allowed are 2");
  EXPECT_EQ(problem(GradientOf("Cast", {"a"}, a, IntAttribute("to", 7))),
            "attribute 'y' names 'y', which is int64[2]; it must hold floating-point numbers");
}

}  // namespace
}  // namespace poprt::frontend
