#include "compiler/frontend/import_time/import_time_op.hpp"

#include <gtest/gtest.h>

#include "compiler/frontend/import.hpp"
#include "compiler/frontend/model_text.hpp"

namespace poprt::frontend {
namespace {

std::string StringsText(const std::string& name, const std::vector<std::string>& values,
                        const Shape& shape) {
  std::string text = "initializer { name: \"" + name + "\" data_type: 8 ";
  for (const std::int64_t extent : shape) text += "dims: " + std::to_string(extent) + " ";
  for (const std::string& value : values) text += "string_data: \"" + value + "\" ";
  return text + "} ";
}

std::string StringsText(const std::string& name, const std::vector<std::string>& values) {
  return StringsText(name, values, {static_cast<std::int64_t>(values.size())});
}

std::string StringsAttribute(const std::string& name, const std::vector<std::string>& values) {
  std::string text = "attribute { name: \"" + name + "\" type: STRINGS ";
  for (const std::string& value : values) text += "strings: \"" + value + "\" ";
  return text + "} ";
}

/// The outputs of strings, one a line, or the error.
std::string StringOutputs(const std::string& graph, int opset = 20) {
  const auto model = ImportText(graph, opset);
  if (!model.ok()) return ErrorOf(model);
  std::string text;
  for (const auto& [name, value] : model->host_outputs) {
    text += name + ": " + Describe(value);
    for (const std::string& element : value.strings()->elements) text += " '" + element + "'";
    text += "\n";
  }
  return text;
}

/// The constant outputs, one a line, or the error.
std::string NumberOutputs(const std::string& graph, int opset = 20) {
  const auto model = ImportText(graph, opset);
  if (!model.ok()) return ErrorOf(model);
  std::string text;
  for (std::size_t i = 0; i < model->graph.outputs.size(); ++i) {
    const Tensor* constant = model->graph.ConstantOf(model->graph.outputs[i]);
    if (constant == nullptr) return "not constant";
    text += model->graph.output_names[i] + ": " + ToString(constant->type());
    for (std::int64_t k = 0; k < constant->count(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      text += " ";
      if (constant->element() == ElementType::kInt64) {
        text += std::to_string(constant->as<std::int64_t>()[at]);
      } else if (constant->element() == ElementType::kFloat32) {
        text += std::to_string(constant->as<float>()[at]);
      } else if (constant->bytes() == static_cast<std::size_t>(constant->count())) {
        text += std::to_string(constant->as<std::uint8_t>()[at]);
      }
    }
    text += "\n";
  }
  return text;
}

const std::string kX = InputText("x", {"6", "2"});

TEST(SequenceOps, SplitOfARunTimeTensor) {
  EXPECT_EQ(TextOf(ImportText(kX + IntsText("parts", {2, 4}, {2}) + OutputText("s") +
                              NodeText("SplitToSequence", {"x", "parts"}, {"s"}, "name: \"n\""))),
            "graph m(x)\n"
            "  n/0:0 = Slice(x) axes=[0] ends=[2] starts=[0] steps=[1] : float32[2, 2]\n"
            "  n/1:0 = Slice(x) axes=[0] ends=[6] starts=[2] steps=[1] : float32[4, 2]\n"
            "  return n/0:0, n/1:0\n");
}

TEST(SequenceOps, SplitForms) {
  const auto outputs = [](const std::string& rest, const std::vector<std::string>& inputs,
                          const std::string& more) {
    const auto model = ImportText(InputText("x", {"5", "2"}) + more + OutputText("s") +
                                  NodeText("SplitToSequence", inputs, {"s"}, rest));
    if (!model.ok()) return ErrorOf(model);
    std::string text;
    for (std::size_t i = 0; i < model->graph.outputs.size(); ++i) {
      text += model->graph.output_names[i] + " " +
              ToString(model->graph.type(model->graph.outputs[i]).shape) + " ";
    }
    return text;
  };
  EXPECT_EQ(outputs(IntAttribute("axis", -1), {"x"}, ""), "s/0 [5, 1] s/1 [5, 1] ");
  EXPECT_EQ(outputs(IntAttribute("axis", 1) + IntAttribute("keepdims", 0), {"x"}, ""),
            "s/0 [5] s/1 [5] ");
  // With parts the dimension stays.
  EXPECT_EQ(outputs(IntAttribute("keepdims", 0), {"x", "n"}, IntsText("n", {2}, {})),
            "s/0 [2, 2] s/1 [2, 2] s/2 [1, 2] ");
  EXPECT_NE(outputs("", {"x", "n"}, IntsText("n", {0}, {})).find("must be positive"),
            std::string::npos);
  EXPECT_NE(outputs("", {"x", "n"}, IntsText("n", {2, 2}, {2})).find("add up to 4"),
            std::string::npos);
  EXPECT_NE(outputs("", {"x", "n"}, IntsText("n", {2, 9}, {2})).find("do not add up"),
            std::string::npos);
  EXPECT_NE(outputs(IntAttribute("axis", 2), {"x"}, "").find("attribute 'axis' is 2"),
            std::string::npos);
}

TEST(SequenceOps, InsertEraseAt) {
  const std::string three = IntsText("a", {1}, {}) + IntsText("b", {2}, {}) +
                            IntsText("c", {3}, {}) + IntsText("m1", {-1}, {}) +
                            IntsText("zero", {0}, {}) +
                            NodeText("SequenceConstruct", {"a", "b"}, {"s"});
  const auto with = [&](const std::string& rest) { return NumberOutputs(three + rest); };
  EXPECT_EQ(with(NodeText("SequenceInsert", {"s", "c"}, {"y"}) + OutputText("y")),
            "y/0: int64[] 1\ny/1: int64[] 2\ny/2: int64[] 3\n");
  EXPECT_EQ(with(NodeText("SequenceInsert", {"s", "c", "m1"}, {"y"}) + OutputText("y")),
            "y/0: int64[] 1\ny/1: int64[] 3\ny/2: int64[] 2\n");
  EXPECT_EQ(with(NodeText("SequenceInsert", {"s", "c", "zero"}, {"y"}) + OutputText("y")),
            "y/0: int64[] 3\ny/1: int64[] 1\ny/2: int64[] 2\n");
  EXPECT_EQ(with(NodeText("SequenceErase", {"s", "zero"}, {"y"}) + OutputText("y")),
            "y/0: int64[] 2\n");
  EXPECT_EQ(with(NodeText("SequenceErase", {"s"}, {"y"}) + OutputText("y")), "y/0: int64[] 1\n");
  EXPECT_EQ(with(NodeText("SequenceAt", {"s", "m1"}, {"y"}) + OutputText("y")), "y: int64[] 2\n");
  EXPECT_EQ(with(NodeText("SequenceLength", {"s"}, {"y"}) + OutputText("y")), "y: int64[] 2\n");
  EXPECT_NE(with(NodeText("SequenceAt", {"s", "c"}, {"y"}) + OutputText("y"))
                .find("the position is 3, outside -2 to 1"),
            std::string::npos);
  EXPECT_NE(with(NodeText("SequenceAt", {"a", "c"}, {"y"}) + OutputText("y"))
                .find("input 0 is int64[], it must be a sequence"),
            std::string::npos);
  EXPECT_NE(
      with(NodeText("Add", {"s", "a"}, {"y"}) + OutputText("y"))
          .find("input 0 is sequence of 2 (int64[], int64[]), which the operator does not take"),
      std::string::npos);
}

TEST(SequenceOps, RunTimePositionsAreRefused) {
  EXPECT_EQ(ErrorOf(ImportText(kX + InputText("i", {}, 7) + OutputText("y") +
                               NodeText("SequenceConstruct", {"x"}, {"s"}) +
                               NodeText("SequenceAt", {"s", "i"}, {"y"}, "name: \"at\""))),
            "m: node 'at' (SequenceAt, opset 17, inputs sequence of 1 (float32[6, 2]), int64[]): "
            "input 1 (position) is computed at run time, but must be known when compiling; freeze "
            "the value or what it is computed from");
}

TEST(SequenceOps, ConcatStacks) {
  const std::string graph = kX + OutputText("y") + NodeText("SequenceConstruct", {"x", "x"}, {"s"});
  const auto shape = [&](const std::string& attributes) {
    const auto model = ImportText(graph + NodeText("ConcatFromSequence", {"s"}, {"y"}, attributes));
    return model.ok() ? ToString(model->graph.type(model->graph.outputs[0])) : ErrorOf(model);
  };
  EXPECT_EQ(shape(IntAttribute("axis", 1)), "float32[6, 4]");
  EXPECT_EQ(shape(IntAttribute("axis", -1) + IntAttribute("new_axis", 1)), "float32[6, 2, 2]");
  EXPECT_NE(shape("").find("attribute 'axis' is missing"), std::string::npos);
  EXPECT_NE(shape(IntAttribute("axis", 2)).find("attribute 'axis' is 2"), std::string::npos);
}

TEST(SequenceOps, MapRunsTheBodyForEachElement) {
  const std::string body = "attribute { name: \"body\" type: GRAPH g { name: \"b\" " +
                           InputText("e", {}) + InputText("t", {}) + OutputText("r") +
                           NodeText("Mul", {"e", "t"}, {"r"}) + "} } ";
  EXPECT_EQ(NumberOutputs(FloatsText("a", {1}, {}) + FloatsText("b", {2, 3}, {2}) +
                          FloatsText("t", {10}, {}) + OutputText("y") +
                          NodeText("SequenceConstruct", {"a", "b"}, {"s"}) +
                          NodeText("SequenceMap", {"s", "t"}, {"y"}, body)),
            "y/0: float32[] 10.000000\ny/1: float32[2] 20.000000 30.000000\n");
}

TEST(SequenceOps, OutputNamesMustDiffer) {
  EXPECT_NE(ErrorOf(ImportText(kX + OutputText("s") + OutputText("s/0") +
                               NodeText("SequenceConstruct", {"x"}, {"s"}) +
                               NodeText("Relu", {"x"}, {"s/0"})))
                .find("two outputs would be called 's/0'"),
            std::string::npos);
}

TEST(OptionalOps, HasAndGet) {
  EXPECT_EQ(
      NumberOutputs(FloatsText("a", {1}, {}) + OutputText("y") + OutputText("has") +
                    OutputText("none") + OutputText("opt") + OutputText("nothing") +
                    NodeText("Optional", {"a"}, {"opt"}) + NodeText("Optional", {}, {"nothing"}) +
                    NodeText("OptionalHasElement", {"opt"}, {"has"}) +
                    NodeText("OptionalHasElement", {"nothing"}, {"none"}) +
                    NodeText("OptionalGetElement", {"opt"}, {"y"})),
      "y: float32[] 1.000000\nhas: bool[] 1\nnone: bool[] 0\nopt: float32[] 1.000000\n");
  EXPECT_EQ(NumberOutputs(OutputText("y") + NodeText("OptionalHasElement", {}, {"y"})),
            "y: bool[] 0\n");
  EXPECT_EQ(NumberOutputs(OutputText("y") + NodeText("OptionalHasElement", {""}, {"y"})),
            "y: bool[] 0\n");
  EXPECT_NE(NumberOutputs(OutputText("y") + NodeText("Optional", {}, {"o"}) +
                          NodeText("OptionalGetElement", {"o"}, {"y"}))
                .find("input 0 is an empty optional"),
            std::string::npos);
}

TEST(StringOps, ConcatBroadcasts) {
  EXPECT_EQ(StringOutputs(StringsText("a", {"x", "y"}, {2, 1}) + StringsText("b", {"1", "2", ""}) +
                          OutputText("c") + NodeText("StringConcat", {"a", "b"}, {"c"})),
            "c: string[2, 3] 'x1' 'x2' 'x' 'y1' 'y2' 'y'\n");
  EXPECT_NE(StringOutputs(StringsText("a", {"x", "y"}) + StringsText("b", {"1", "2", ""}) +
                          OutputText("c") + NodeText("StringConcat", {"a", "b"}, {"c"}))
                .find("do not broadcast"),
            std::string::npos);
}

TEST(StringOps, DoublingIsBounded) {
  std::string graph = StringsText("s0", {"0123456789"});
  for (int i = 0; i < 40; ++i) {
    const std::string from = "s" + std::to_string(i);
    graph += NodeText("StringConcat", {from, from}, {"s" + std::to_string(i + 1)});
  }
  EXPECT_NE(StringOutputs(graph + OutputText("s40")).find("larger than 1 GiB"), std::string::npos);
}

TEST(StringOps, Split) {
  const auto split = [](const std::vector<std::string>& texts, const std::string& attributes) {
    return StringOutputs(StringsText("a", texts) + OutputText("p") +
                         NodeText("StringSplit", {"a"}, {"p", "n"}, attributes));
  };
  EXPECT_EQ(split({"a,b,,c", ""}, TextAttribute("delimiter", ",")),
            "p: string[2, 4] 'a' 'b' '' 'c' '' '' '' ''\n");
  EXPECT_EQ(split({"  a  b c "}, ""), "p: string[1, 3] 'a' 'b' 'c'\n");
  EXPECT_EQ(split({" a  b c "}, IntAttribute("maxsplit", 1)), "p: string[1, 2] 'a' 'b c '\n");
  EXPECT_EQ(split({"a--b--c"}, TextAttribute("delimiter", "--") + IntAttribute("maxsplit", 1)),
            "p: string[1, 2] 'a' 'b--c'\n");
  EXPECT_EQ(split({"", " "}, ""), "p: string[2, 0]\n");
  EXPECT_EQ(NumberOutputs(StringsText("a", {"a b", ""}) + OutputText("n") +
                          NodeText("StringSplit", {"a"}, {"", "n"})),
            "n: int64[2] 2 0\n");
}

TEST(StringOps, RegexFullMatch) {
  const auto match = [](const std::string& pattern) {
    return NumberOutputs(
        StringsText("a", {"abc", "xabc", "ABC"}) + OutputText("y") +
        NodeText("RegexFullMatch", {"a"}, {"y"}, TextAttribute("pattern", pattern)));
  };
  EXPECT_EQ(match("a.c"), "y: bool[3] 1 0 0\n");
  EXPECT_EQ(match("(?i)a[b-d]+"), "y: bool[3] 1 0 1\n");
  EXPECT_NE(match("(").find("is no regular expression"), std::string::npos);
}

TEST(StringOps, Normalizer) {
  const auto normal = [](const std::vector<std::string>& texts, const std::string& attributes) {
    return StringOutputs(StringsText("a", texts) + OutputText("y") +
                         NodeText("StringNormalizer", {"a"}, {"y"}, attributes));
  };
  const std::string stop = StringsAttribute("stopwords", {"Monday"});
  EXPECT_EQ(
      normal({"monday", "Besan\xC3\xA7on"}, stop + TextAttribute("case_change_action", "UPPER")),
      "y: string[1] 'BESAN\xC3\x87ON'\n");
  EXPECT_EQ(normal({"monday", "Monday", "X"}, stop + IntAttribute("is_case_sensitive", 1)),
            "y: string[2] 'monday' 'X'\n");
  EXPECT_EQ(normal({"Monday"}, stop), "y: string[1] ''\n");
  EXPECT_EQ(normal({"\xD0\x9F\xCE\xA3"}, TextAttribute("case_change_action", "LOWER")),
            "y: string[1] '\xD0\xBF\xCF\x83'\n");
  EXPECT_NE(normal({"a"}, TextAttribute("case_change_action", "TITLE")).find("allowed are LOWER"),
            std::string::npos);
}

TEST(StringOps, MovementAndComparison) {
  const std::string names = StringsText("s", {"b", "a", "c", "a"}, {2, 2});
  EXPECT_EQ(StringOutputs(names + IntsText("i", {1, 0}, {2}) + OutputText("y") +
                          NodeText("Gather", {"s", "i"}, {"y"}, IntAttribute("axis", 1))),
            "y: string[2, 2] 'a' 'b' 'a' 'c'\n");
  EXPECT_EQ(StringOutputs(names + OutputText("y") + NodeText("Transpose", {"s"}, {"t"}) +
                          NodeText("Flatten", {"t"}, {"y"}, IntAttribute("axis", 0))),
            "y: string[1, 4] 'b' 'c' 'a' 'a'\n");
  EXPECT_EQ(StringOutputs(names + StringsText("z", {"z"}) + OutputText("y") +
                          NodeText("Equal", {"s", "z"}, {"e"}) + NodeText("Not", {"e"}, {"n"}) +
                          NodeText("Where", {"n", "s", "z"}, {"y"})),
            "y: string[2, 2] 'b' 'a' 'c' 'a'\n");
  EXPECT_EQ(NumberOutputs(names + StringsText("a", {"a"}, {}) + OutputText("e") + OutputText("n") +
                          OutputText("d") + NodeText("Equal", {"s", "a"}, {"e"}) +
                          NodeText("Size", {"s"}, {"n"}) + NodeText("Shape", {"s"}, {"d"})),
            "e: bool[2, 2] 0 1 0 1\nn: int64[] 4\nd: int64[2] 2 2\n");
  EXPECT_NE(StringOutputs(names + FloatsText("f", {1}, {1}) + OutputText("y") +
                          NodeText("Concat", {"s", "f"}, {"y"}, IntAttribute("axis", 0)))
                .find("input 1 is float32[1], it must be a tensor of strings"),
            std::string::npos);
  EXPECT_NE(StringOutputs(names + InputText("c", {"2", "2"}, 9) + OutputText("y") +
                          NodeText("Where", {"c", "s", "s"}, {"y"}))
                .find("strings do not survive to run time"),
            std::string::npos);
}

TEST(StringOps, Casts) {
  EXPECT_EQ(
      StringOutputs("initializer { name: \"a\" data_type: 1 dims: 7 float_data: 0.1 float_data: "
                    "-2 float_data: 1e20 float_data: 1e-7 float_data: nan float_data: inf "
                    "float_data: -inf } " +
                    OutputText("y") + NodeText("Cast", {"a"}, {"y"}, IntAttribute("to", 8))),
      "y: string[7] '0.1' '-2.0' '100000000000000000000.0' '0.0000001' 'NaN' 'INF' '-INF'\n");
  EXPECT_EQ(StringOutputs("initializer { name: \"a\" data_type: 10 dims: 2 int32_data: 11878 "
                          "int32_data: 31743 } " +
                          OutputText("y") + NodeText("Cast", {"a"}, {"y"}, IntAttribute("to", 8))),
            "y: string[2] '0.1' '65500.0'\n");
  EXPECT_EQ(NumberOutputs(StringsText("a", {"1.5", "-1e2", "+inf", "NaN"}) + OutputText("y") +
                          NodeText("Cast", {"a"}, {"y"}, IntAttribute("to", 1))),
            "y: float32[4] 1.500000 -100.000000 inf nan\n");
  EXPECT_EQ(NumberOutputs(StringsText("a", {"-9223372036854775808", "7.9", "1e3"}) +
                          OutputText("y") + NodeText("Cast", {"a"}, {"y"}, IntAttribute("to", 7))),
            "y: int64[3] -9223372036854775808 7 1000\n");
  EXPECT_NE(NumberOutputs(StringsText("a", {"256"}) + OutputText("y") +
                          NodeText("Cast", {"a"}, {"y"}, IntAttribute("to", 2)))
                .find("the string '256' is a number out of range"),
            std::string::npos);
  EXPECT_NE(NumberOutputs(StringsText("a", {"Hello"}) + OutputText("y") +
                          NodeText("Cast", {"a"}, {"y"}, IntAttribute("to", 1)))
                .find("the string 'Hello' is no number"),
            std::string::npos);
  EXPECT_NE(
      StringOutputs(kX + OutputText("y") + NodeText("Cast", {"x"}, {"y"}, IntAttribute("to", 8)))
          .find("strings do not survive to run time"),
      std::string::npos);
}

TEST(ConstantOps, StringsAndSparse) {
  EXPECT_EQ(
      StringOutputs(OutputText("a") + OutputText("b") +
                    NodeText("Constant", {}, {"a"}, TextAttribute("value_string", "one")) +
                    NodeText("Constant", {}, {"b"}, StringsAttribute("value_strings", {"x", "y"}))),
      "a: string[] 'one'\nb: string[2] 'x' 'y'\n");
  const std::string sparse =
      "dims: 2 dims: 3 values { name: \"w\" data_type: 7 dims: 2 int64_data: 5 int64_data: 6 } "
      "indices { data_type: 7 dims: 2 dims: 2 int64_data: 0 int64_data: 1 int64_data: 1 "
      "int64_data: 2 "
      "} ";
  EXPECT_EQ(NumberOutputs(OutputText("a") +
                          NodeText("Constant", {}, {"a"},
                                   "attribute { name: \"sparse_value\" type: SPARSE_TENSOR "
                                   "sparse_tensor { " +
                                       sparse + "} } ")),
            "a: int64[2, 3] 0 5 0 0 0 6\n");
  EXPECT_EQ(NumberOutputs("sparse_initializer { " + sparse + "} " + OutputText("w")),
            "w: int64[2, 3] 0 5 0 0 0 6\n");
  const auto error = [](const std::string& dims, const std::string& indices) {
    return NumberOutputs("sparse_initializer { " + dims +
                         " values { name: \"w\" data_type: 7 dims: 2 int64_data: 5 int64_data: 6 } "
                         "indices { data_type: 7 dims: 2 " +
                         indices + " } } " + OutputText("w"));
  };
  EXPECT_EQ(error("dims: 3", "int64_data: 0 int64_data: 2"), "w: int64[3] 5 0 6\n");
  EXPECT_NE(error("dims: 3", "int64_data: 0 int64_data: 3").find("outside the shape"),
            std::string::npos);
  EXPECT_NE(error("dims: 3", "int64_data: -1 int64_data: 2").find("outside the shape"),
            std::string::npos);
  EXPECT_NE(error("dims: 3", "int64_data: 1 int64_data: 1").find("out of order or twice"),
            std::string::npos);
  EXPECT_NE(error("dims: 99999999999", "int64_data: 0 int64_data: 1").find("larger than 2 GiB"),
            std::string::npos);
  EXPECT_NE(error("dims: -3", "int64_data: 0 int64_data: 1").find("larger than 2 GiB"),
            std::string::npos);
}

std::string MlOutputs(const std::string& graph, bool strings) {
  const std::string bytes = BytesOfText(
      "ir_version: 8 opset_import { version: 20 } opset_import { domain: \"ai.onnx.ml\" version: 4 "
      "} "
      "graph { name: \"g\" " +
      graph + " }");
  ImportOptions options;
  options.model_name = "m";
  const auto model = ImportOnnxBytes(bytes, "", options);
  if (!model.ok()) return ErrorOf(model);
  if (strings) {
    std::string text;
    for (const std::string& element : model->host_outputs.at(0).second.strings()->elements) {
      text += element + " ";
    }
    return text;
  }
  const Tensor* constant = model->graph.ConstantOf(model->graph.outputs[0]);
  if (constant == nullptr) return ir::ToString(model->graph);
  std::string text;
  for (const std::int64_t element : constant->as<std::int64_t>())
    text += std::to_string(element) + " ";
  return text;
}

TEST(LabelEncoder, StringsAndNumbers) {
  const auto encode = [](const std::string& data, const std::string& attributes, bool strings) {
    return MlOutputs(
        data + OutputText("y") +
            NodeText("LabelEncoder", {"x"}, {"y"}, "domain: \"ai.onnx.ml\" " + attributes),
        strings);
  };
  const std::string words = StringsText("x", {"b", "q", "a"});
  EXPECT_EQ(encode(words,
                   StringsAttribute("keys_strings", {"a", "b"}) +
                       IntsAttribute("values_int64s", {10, 20}),
                   false),
            "20 -1 10 ");
  EXPECT_EQ(encode(IntsText("x", {3, 4, 1}, {3}),
                   IntsAttribute("keys_int64s", {4, 3}) +
                       StringsAttribute("values_strings", {"four", "three"}),
                   true),
            "three four _Unused ");
  EXPECT_EQ(encode(FloatsText("x", {0.5F, 1, std::numeric_limits<float>::quiet_NaN()}, {3}),
                   "attribute { name: \"keys_floats\" type: FLOATS floats: nan floats: 1 } " +
                       IntsAttribute("values_int64s", {7, 8}) + IntAttribute("default_int64", 0),
                   false),
            "0 8 7 ");
  EXPECT_NE(
      encode(words, IntsAttribute("keys_int64s", {1}) + IntsAttribute("values_int64s", {1}), false)
          .find("input 0 is string[3], but the keys are int64[1]"),
      std::string::npos);
  EXPECT_NE(encode(words,
                   StringsAttribute("keys_strings", {"a"}) + IntsAttribute("values_int64s", {1, 2}),
                   false)
                .find("there must be as many"),
            std::string::npos);
  EXPECT_NE(encode(words, StringsAttribute("keys_strings", {"a"}), false)
                .find("must have exactly one of the attributes 'values_strings'"),
            std::string::npos);
  EXPECT_EQ(
      encode(InputText("x", {"2"}, 7),
             IntsAttribute("keys_int64s", {4, 3}) + IntsAttribute("values_int64s", {1, 2}), false),
      "graph m(x)\n"
      "  LabelEncoder_0/lookup:0 = LabelEncoder(x, LabelEncoder_0/keys, LabelEncoder_0/values, "
      "LabelEncoder_0/default) : int64[2]\n"
      "  return LabelEncoder_0/lookup:0\n");
}

TEST(TfIdfVectorizer, OfStrings) {
  EXPECT_EQ(
      NumberOutputs(StringsText("x", {"a", "b", "zz", "a", "b"}) + OutputText("y") +
                    NodeText("TfIdfVectorizer", {"x"}, {"y"},
                             StringsAttribute("pool_strings", {"b", "a", "a", "b"}) +
                                 IntsAttribute("ngram_counts", {0, 2}) +
                                 IntsAttribute("ngram_indexes", {2, 1, 0}) +
                                 IntAttribute("min_gram_length", 1) +
                                 IntAttribute("max_gram_length", 2) +
                                 IntAttribute("max_skip_count", 0) + TextAttribute("mode", "TF"))),
      "y: float32[3] 2.000000 2.000000 2.000000\n");
}

}  // namespace
}  // namespace poprt::frontend
