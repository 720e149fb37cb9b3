#include "compiler/frontend/control_flow/control_flow.hpp"

#include <gtest/gtest.h>

#include "compiler/frontend/model_text.hpp"

namespace poprt::frontend {
namespace {

constexpr int kInt64 = 7;
constexpr int kBool = 9;

std::string GraphAttribute(const std::string& name, const std::string& graph) {
  return "attribute { name: \"" + name + "\" type: GRAPH g { name: \"" + name + "\" " + graph +
         "} } ";
}

std::string If(const std::string& then_branch, const std::string& else_branch) {
  return NodeText("If", {"cond"}, {"y"},
                  "name: \"choice\" " + GraphAttribute("then_branch", then_branch) +
                      GraphAttribute("else_branch", else_branch));
}

const std::string kInputs = InputText("cond", {}, kBool) + InputText("x", {"2"}) + OutputText("y");
const std::string kRelu = NodeText("Relu", {"x"}, {"r"}) + OutputText("r");
const std::string kNeg = NodeText("Neg", {"x"}, {"n"}) + OutputText("n");

TEST(ControlFlowImport, BranchesCaptureWhatTheyRead) {
  const std::string weighted = NodeText("Mul", {"x", "w"}, {"m"}) + OutputText("m");
  EXPECT_EQ(TextOf(ImportText(kInputs + FloatsText("w", {1, 2}, {2}) + If(kRelu, weighted))),
            "graph m(cond, x)\n"
            "  y = If(cond, x) : float32[2]\n"
            "    graph then_branch(x)\n"
            "      r = Relu(x) : float32[2]\n"
            "      return r\n"
            "    graph else_branch(x)\n"
            "      m = Mul(x, w) : float32[2]\n"
            "      return m\n"
            "  return y\n");
}

TEST(ControlFlowImport, AKnownConditionLeavesItsBranchOnly) {
  // The condition follows from the shape of x; the other branch may be what it likes.
  const std::string other = NodeText("NoSuchOperator", {"x"}, {"z"}) + OutputText("z");
  const auto model = ImportText(InputText("x", {"2"}) + OutputText("y") + IntsText("one", {1}, {}) +
                                NodeText("Size", {"x"}, {"s"}) +
                                NodeText("Greater", {"s", "one"}, {"cond"}) + If(kRelu, other));
  EXPECT_EQ(TextOf(model), "graph m(x)\n  r = Relu(x) : float32[2]\n  return r\n");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->graph.output_names, std::vector<std::string>{"y"});
}

TEST(ControlFlowImport, InnerNamesHideOuterOnes) {
  // The then branch calls its own results x and y.
  const std::string shadowing =
      NodeText("Relu", {"x"}, {"y"}) + NodeText("Neg", {"y"}, {"x"}) + OutputText("x");
  EXPECT_EQ(TextOf(ImportText(kInputs + If(shadowing, kNeg))),
            "graph m(cond, x)\n"
            "  y = If(cond, x) : float32[2]\n"
            "    graph then_branch(x)\n"
            "      y = Relu(x) : float32[2]\n"
            "      x_1 = Neg(y) : float32[2]\n"
            "      return x_1\n"
            "    graph else_branch(x)\n"
            "      n = Neg(x) : float32[2]\n"
            "      return n\n"
            "  return y\n");
}

TEST(ControlFlowImport, ValuesThatOnlyBodiesReadAreLive) {
  const std::string used = NodeText("Relu", {"outer"}, {"r"}) + OutputText("r");
  EXPECT_EQ(TextOf(ImportText(kInputs + NodeText("Exp", {"x"}, {"outer"}) +
                              NodeText("Log", {"x"}, {"dead"}) + If(used, kNeg))),
            "graph m(cond, x)\n"
            "  outer = Exp(x) : float32[2]\n"
            "  y = If(cond, outer, x) : float32[2]\n"
            "    graph then_branch(outer, x)\n"
            "      r = Relu(outer) : float32[2]\n"
            "      return r\n"
            "    graph else_branch(outer, x)\n"
            "      n = Neg(x) : float32[2]\n"
            "      return n\n"
            "  return y\n");
}

TEST(ControlFlowImport, BranchesMustAgreeOnTypes) {
  const std::string longer =
      NodeText("Concat", {"x", "x"}, {"c"}, IntAttribute("axis", 0)) + OutputText("c");
  EXPECT_EQ(ErrorOf(ImportText(kInputs + If(kRelu, longer))),
            "m: node 'choice' (If, opset 17, inputs bool[]): output 0 is float32[2] from the then "
            "branch and float32[4] from the else branch: an If that is decided at run time needs "
            "tensors of the same type from both; freeze the condition or what it is computed from");
}

TEST(ControlFlowImport, MessagesSayInWhichBodyTheNodeIs) {
  const std::string wrong = NodeText("MatMul", {"x", "three"}, {"p"}, "name: \"product\"") +
                            FloatsText("three", {1, 2, 3}, {3}) + OutputText("p");
  EXPECT_EQ(
      ErrorOf(ImportText(kInputs + If(kRelu, wrong)))
          .find("m: in attribute 'else_branch' of node 'choice' (If): node 'product' (MatMul, "),
      0U);
  const std::string unknown = NodeText("Relu", {"nowhere"}, {"p"}) + OutputText("p");
  EXPECT_EQ(ErrorOf(ImportText(kInputs + If(unknown, kNeg))),
            "m: in attribute 'then_branch' of node 'choice' (If): node '<unnamed>' with output 'p' "
            "(Relu) reads 'nowhere', which no node, input or initializer defines");
}

TEST(ControlFlowImport, RefusesBrokenNodes) {
  EXPECT_EQ(ErrorOf(ImportText(kInputs + NodeText("If", {"cond"}, {"y"}, "name: \"choice\""))),
            "m: node 'choice' (If, opset 17, inputs bool[]): attribute 'then_branch' is missing or "
            "no graph");
  EXPECT_EQ(
      ErrorOf(ImportText(InputText("cond", {}) + InputText("x", {"2"}) + OutputText("y") +
                         If(kRelu, kNeg))),
      "m: node 'choice' (If, opset 17, inputs float32[]): the condition is float32[], it must "
      "be one bool");
  EXPECT_EQ(ErrorOf(ImportText(kInputs + If(kRelu, kNeg + OutputText("x")))),
            "m: node 'choice' (If, opset 17, inputs bool[]): attribute 'else_branch' has 0 inputs "
            "and 2 outputs, it must have 0 and 1");
}

std::string Loop(const std::string& body, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs) {
  return NodeText("Loop", inputs, outputs, "name: \"loop\" " + GraphAttribute("body", body));
}

const std::string kControls = InputText("i", {}, kInt64) + InputText("c", {}, kBool);

TEST(ControlFlowImport, LoopsBecomeNodesWithABody) {
  const std::string body = kControls + InputText("v", {"2"}) + NodeText("Add", {"v", "x"}, {"w"}) +
                           OutputText("c") + OutputText("w");
  EXPECT_EQ(TextOf(ImportText(InputText("n", {}, kInt64) + InputText("x", {"2"}) + OutputText("y") +
                              Loop(body, {"n", "", "x"}, {"y"}))),
            "graph m(n, x)\n"
            "  y = Loop(n, -, x, x) num_carried=1 : float32[2]\n"
            "    graph body(iteration, condition, v, x)\n"
            "      w = Add(v, x) : float32[2]\n"
            "      return condition, w\n"
            "  return y\n");
}

TEST(ControlFlowImport, RefusesLoopsThatCannotBecomeStatic) {
  const std::string growing = kControls + InputText("v", {"2"}) +
                              NodeText("Concat", {"v", "x"}, {"w"}, IntAttribute("axis", 0)) +
                              OutputText("c") + OutputText("w");
  EXPECT_EQ(ErrorOf(ImportText(InputText("n", {}, kInt64) + InputText("x", {"2"}) +
                               OutputText("y") + Loop(growing, {"n", "", "x"}, {"y"}))),
            "m: node 'loop' (Loop, opset 17, inputs int64[], -, float32[2]): carried value 0 ('v') "
            "is float32[2] at first and float32[4] after an iteration, which a loop at run time "
            "cannot; freeze the inputs that its trip count and condition are computed from");
  const std::string forever = kControls + InputText("v", {"2"}) + NodeText("Relu", {"v"}, {"w"}) +
                              OutputText("c") + OutputText("w");
  EXPECT_EQ(ErrorOf(ImportText(InputText("x", {"2"}) + OutputText("y") +
                               Loop(forever, {"", "", "x"}, {"y"}))),
            "m: node 'loop' (Loop, opset 17, inputs -, -, float32[2]): never ends: it has no trip "
            "count and its condition holds");
  EXPECT_EQ(
      ErrorOf(
          ImportText(InputText("n", {}, kInt64) + InputText("x", {"2"}) + OutputText("y") +
                     Loop(kControls + OutputText("c") + OutputText("x"), {"n", "", "x"}, {"y"}))),
      "m: node 'loop' (Loop, opset 17, inputs int64[], -, float32[2]): attribute 'body' has 2 "
      "inputs and 2 outputs, it must have 3 and 2");
}

}  // namespace
}  // namespace poprt::frontend
