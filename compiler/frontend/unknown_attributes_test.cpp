#include "compiler/frontend/unknown_attributes.hpp"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <set>

#include "compiler/frontend/import_time/import_time_op.hpp"
#include "compiler/frontend/model_text.hpp"
#include "compiler/frontend/supported_operators.hpp"
#include "compiler/frontend/upgrade/upgrade.hpp"
#include "compiler/ops/attribute_names.hpp"
#include "compiler/ops/op.hpp"

namespace poprt::frontend {
namespace {

const std::string kInput = InputText("x", {"2"});

TEST(UnknownAttributes, AllAreReportedWithOtherProblems) {
  EXPECT_EQ(
      ErrorOf(ImportText(
          kInput + OutputText("z") +
          NodeText("Relu", {"x"}, {"a"}, "name: \"r\" " + IntAttribute("bogus_thing", 3)) +
          NodeText("Softmax", {"a"}, {"b"},
                   "name: \"s\" " + IntAttribute("axes", 0) + IntAttribute("temperature", 2)) +
          NodeText("MatMul", {"b", "x"}, {"c"}, "name: \"m\" " + IntAttribute("transA", 1)) +
          NodeText("Einsum", {"x"}, {"d"}, "name: \"e\" " + TextAttribute("equation", "i,i->")) +
          NodeText("Concat", {"c", "d"}, {"z"}, IntAttribute("axis", 0)))),
      "m: node 'r' (Relu, opset 17, inputs float32[2]): attribute 'bogus_thing' is none of the "
      "operator's (attributes: 'consumed_inputs'); remove it or correct its name\n"
      "m: node 's' (Softmax, opset 17, inputs ?): attribute 'axes' is none of the operator's; did "
      "you mean 'axis'? (attributes: 'axis'); remove it or correct its name\n"
      "m: node 's' (Softmax, opset 17, inputs ?): attribute 'temperature' is none of the "
      "operator's (attributes: 'axis'); remove it or correct its name\n"
      "m: node 'm' (MatMul, opset 17, inputs ?, float32[2]): attribute 'transA' is none of the "
      "operator's, which has no attributes; remove it\n"
      "m: node 'e' (Einsum, opset 17, inputs float32[2]): attribute 'equation' has 2 terms for 1 "
      "operands");
}

TEST(UnknownAttributes, WhereNamesAreBroken) {
  EXPECT_EQ(ErrorOf(ImportText(
                kInput + OutputText("y") +
                NodeText("Relu", {"nothing"}, {"y"}, "name: \"r\" " + IntAttribute("bogus", 3)))),
            "m: node 'r' (Relu) reads 'nothing', which no node, input or initializer defines\n"
            "m: node 'r' (Relu, opset 17, inputs ?): attribute 'bogus' is none of the operator's "
            "(attributes: 'consumed_inputs'); remove it or correct its name");
}

TEST(UnknownAttributes, InBodies) {
  const std::string body =
      "attribute { name: \"then_branch\" type: GRAPH g { name: \"t\" " +
      NodeText("Relu", {"x"}, {"t"}, "name: \"r\" " + IntAttribute("slope", 1)) + OutputText("t") +
      "} } attribute { name: \"else_branch\" type: GRAPH g { name: \"e\" " +
      NodeText("Abs", {"x"}, {"e"}) + OutputText("e") + "} }";
  EXPECT_EQ(ErrorOf(ImportText(kInput + InputText("c", {}, 9) + OutputText("y") +
                               NodeText("If", {"c"}, {"y"}, body))),
            "m: in attribute 'then_branch' of node '<unnamed>' with output 'y' (If): node 'r' "
            "(Relu, opset 17, inputs float32[2]): attribute 'slope' is none of the operator's "
            "(attributes: 'consumed_inputs'); remove it or correct its name");
}

TEST(UnknownAttributes, OfOlderFormsAreKnown) {
  EXPECT_EQ(
      ErrorOf(ImportText(kInput + OutputText("y") +
                             NodeText("Relu", {"x"}, {"y"}, IntsAttribute("consumed_inputs", {0})),
                         1)),
      "no error");
}

TEST(UnknownAttributes, OfToolsAreLeftOut) {
  EXPECT_EQ(
      TextOf(
          ImportText(kInput + OutputText("y") +
                     NodeText("Relu", {"x"}, {"y"}, "name: \"r\" " + IntAttribute("__tool", 3)))),
      TextOf(ImportText(kInput + OutputText("y") + NodeText("Relu", {"x"}, {"y"}, "name: \"r\""))));
}

TEST(UnknownAttributes, OfFunctionsAreTheirOwn) {
  const auto model = [](const std::string& inner) {
    return ImportOnnxBytes(
        BytesOfText(
            "ir_version: 8 opset_import { version: 17 } opset_import { domain: \"f\" "
            "version: 1 } functions { domain: \"f\" name: \"Leaky\" input: \"a\" output: "
            "\"b\" attribute: \"slope\" opset_import { version: 17 } " +
            NodeText("LeakyRelu", {"a"}, {"b"},
                     "attribute { name: \"" + inner + "\" ref_attr_name: \"slope\" type: FLOAT }") +
            "} graph { name: \"g\" " + kInput + OutputText("y") +
            NodeText("Leaky", {"x"}, {"y"},
                     "name: \"c\" domain: \"f\" " + FloatAttribute("slope", 0.5F)) +
            "}"),
        "", {.model_name = "m"});
  };
  EXPECT_EQ(ErrorOf(model("alpha")), "no error");
  EXPECT_EQ(ErrorOf(model("slope")),
            "m: node 'c/LeakyRelu' (LeakyRelu, opset 17, inputs float32[2]): attribute 'slope' is "
            "none of the operator's (attributes: 'alpha', 'consumed_inputs'); remove it or correct "
            "its name");
}

TEST(UnknownAttributes, OfAllSupportedOperatorsAreListed) {
  std::set<std::string> supported{"Constant", "If", "Loop", "Scan"};
  for (const ops::OpDef& op : ops::AllOps()) {
    if (op.since > ops::kNewestOpset) continue;
    supported.insert((op.domain.empty() ? "" : std::string(op.domain) + ".") +
                     std::string(op.name));
  }
  for (const auto& names : {ReplacedOps(), ImportTimeOps()}) {
    supported.insert(names.begin(), names.end());
  }
  std::set<std::string> listed;
  for (const std::string& op : ops::OpsWithAttributeNames()) {
    listed.insert(op);
    const std::size_t dot = op.rfind('.');
    onnx::NodeProto node;
    node.set_op_type(op.substr(dot + 1));
    if (dot != std::string::npos) node.set_domain(op.substr(0, dot));
    EXPECT_EQ(WhyUnsupported(node), "") << op;
  }
  for (const std::string& op : supported) EXPECT_EQ(listed.count(op), 1U) << op;
}

}  // namespace
}  // namespace poprt::frontend
