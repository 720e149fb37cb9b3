#include "compiler/frontend/import.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "compiler/frontend/model_text.hpp"

namespace poprt::frontend {
namespace {

const std::string kIdentity =
    InputText("x", {"1", "2"}) + OutputText("y") + NodeText("Relu", {"x"}, {"y"}, "name: \"r\"");

TEST(Import, KeepsNamesAndTypes) {
  const auto model = ImportText(kIdentity);
  EXPECT_EQ(TextOf(model), "graph m(x)\n  y = Relu(x) : float32[1, 2]\n  return y\n");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->opset, 17);
  EXPECT_EQ(model->producer, "test");
  EXPECT_EQ(model->graph.nodes[0].name, "r");
  EXPECT_EQ(model->graph.output_names, std::vector<std::string>{"y"});
}

TEST(Import, NodesSayWhereTheyRun) {
  const std::string placed = IntAttribute("__ipu_number", 1) + IntAttribute("__pipeline_stage", 2);
  const auto model = ImportText(InputText("x", {"2"}) + OutputText("z") +
                                NodeText("HardSwish", {"x"}, {"a"}, placed) +
                                NodeText("Abs", {"a"}, {"z"}, IntAttribute("__ipu_number", 0)));
  EXPECT_EQ(TextOf(model),
            "graph m(x)\n  a = HardSwish(x) __ipu_number=1 __pipeline_stage=2 : float32[2]\n"
            "  z = Abs(a) __ipu_number=0 : float32[2]\n  return z\n");
}

TEST(Import, PlacesThatCannotBeAreRefused) {
  const auto error = [](const std::string& attributes) {
    return ErrorOf(ImportText(InputText("x", {"2"}) + OutputText("y") +
                              NodeText("Relu", {"x"}, {"y"}, "name: \"r\" " + attributes)));
  };
  const std::string where = "m: node 'r' (Relu, opset 17, inputs float32[2]): attribute ";
  EXPECT_EQ(error(IntAttribute("__ipu_number", -1)),
            where + "'__ipu_number' is -1, allowed are 0 to 1023");
  EXPECT_EQ(error(IntAttribute("__pipeline_stage", std::int64_t{1} << 40)),
            where + "'__pipeline_stage' is 1099511627776, allowed are 0 to 1023");
  EXPECT_EQ(error(TextAttribute("__ipu_number", "1")), where + "'__ipu_number' is no integer");
  EXPECT_EQ(error(IntAttribute("__ipu_number", 0) + IntAttribute("__ipu_number", 1)),
            where + "'__ipu_number' is given twice");
}

TEST(Import, NamesUnnamedNodesByOperatorAndPosition) {
  const auto model =
      ImportText(InputText("x", {"2"}) + OutputText("z") + NodeText("Relu", {"x"}, {"a"}) +
                 NodeText("Abs", {"a"}, {"b"}, "name: \"same\"") +
                 NodeText("Neg", {"b"}, {"z"}, "name: \"same\""));
  ASSERT_TRUE(model.ok()) << ErrorOf(model);
  EXPECT_EQ(model->graph.nodes[0].name, "Relu_0");
  EXPECT_EQ(model->graph.nodes[1].name, "same");
  EXPECT_EQ(model->graph.nodes[2].name, "same_1");
}

TEST(Import, InitializersAmongTheInputsAreConstants) {
  const auto model =
      ImportText(InputText("x", {"2"}) + InputText("w", {"2"}) + FloatsText("w", {1, 2}, {2}) +
                 OutputText("y") + NodeText("Add", {"x", "w"}, {"y"}));
  ASSERT_TRUE(model.ok()) << ErrorOf(model);
  EXPECT_EQ(model->graph.inputs.size(), 1U);
  const Tensor* w = model->graph.ConstantOf(model->graph.nodes[0].inputs[1]);
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->as<float>()[1], 2.0F);
}

TEST(Import, ReshapesByComputedShapesVanish) {
  // x -> Shape -> Gather 0 -> Unsqueeze -> Concat with -1 -> Reshape
  const auto model = ImportText(
      InputText("x", {"2", "3", "4"}) + OutputText("y") + IntsText("zero", {0}, {}) +
      IntsText("axes", {0}, {1}) + IntsText("rest", {-1}, {1}) + NodeText("Shape", {"x"}, {"s"}) +
      NodeText("Gather", {"s", "zero"}, {"n"}) + NodeText("Unsqueeze", {"n", "axes"}, {"n1"}) +
      NodeText("Concat", {"n1", "rest"}, {"shape"}, IntAttribute("axis", 0)) +
      NodeText("Reshape", {"x", "shape"}, {"y"}));
  EXPECT_EQ(TextOf(model),
            "graph m(x)\n  y = Reshape(x) shape=[2, -1] : float32[2, 12]\n  return y\n");
}

TEST(Import, FoldsButNotBeyondTheBound) {
  const std::string graph = FloatsText("a", {1, 2}, {2}) + OutputText("y") +
                            NodeText("Add", {"a", "a"}, {"b"}) + IntsText("shape", {300, 2}, {2}) +
                            NodeText("Expand", {"b", "shape"}, {"y"});
  const auto all = ImportText(graph);
  ASSERT_TRUE(all.ok()) << ErrorOf(all);
  ASSERT_TRUE(all->graph.nodes.empty());
  EXPECT_EQ(all->graph.ConstantOf(all->graph.outputs[0])->as<float>()[3], 4.0F);

  ImportOptions options;
  options.max_tensor_size = 0;
  const auto bounded = ImportText(graph, 17, options);
  ASSERT_TRUE(bounded.ok()) << ErrorOf(bounded);
  ASSERT_EQ(bounded->graph.nodes.size(), 1U);  // Add makes 8 bytes, which always may be folded
  EXPECT_EQ(bounded->graph.nodes[0].op, "Expand");
}

TEST(Import, DeadNodesDoNotMatter) {
  const auto model = ImportText(kIdentity + NodeText("NoSuchOperator", {"x"}, {"z"}));
  ASSERT_TRUE(model.ok()) << ErrorOf(model);
  EXPECT_EQ(model->graph.nodes.size(), 1U);
}

TEST(Import, ConstantNodesOfEveryKind) {
  const auto model = ImportText(
      OutputText("a") + OutputText("b") + OutputText("c") + OutputText("d") + OutputText("e") +
      NodeText("Constant", {}, {"a"}, IntAttribute("value_int", 3)) +
      NodeText("Constant", {}, {"b"}, IntsAttribute("value_ints", {4, 5})) +
      NodeText("Constant", {}, {"c"}, FloatAttribute("value_float", 1.5F)) +
      NodeText("Constant", {}, {"d"},
               "attribute { name: \"value_floats\" type: FLOATS floats: 2.5 }") +
      NodeText(
          "Constant", {}, {"e"},
          "attribute { name: \"value\" type: TENSOR t { data_type: 6 dims: 1 int32_data: 7 } }"));
  ASSERT_TRUE(model.ok()) << ErrorOf(model);
  const auto constant = [&](std::size_t i) {
    return *model->graph.ConstantOf(model->graph.outputs[i]);
  };
  EXPECT_EQ(ToString(constant(0).type()), "int64[]");
  EXPECT_EQ(constant(0).as<std::int64_t>()[0], 3);
  EXPECT_EQ(constant(1).as<std::int64_t>()[1], 5);
  EXPECT_EQ(ToString(constant(2).type()), "float32[]");
  EXPECT_EQ(constant(2).as<float>()[0], 1.5F);
  EXPECT_EQ(constant(3).as<float>()[0], 2.5F);
  EXPECT_EQ(constant(4).as<std::int32_t>()[0], 7);
  EXPECT_EQ(ErrorOf(ImportText(OutputText("a") +
                               NodeText("Constant", {}, {"a"}, TextAttribute("value_text", "s")))),
            "m: node '<unnamed>' with output 'a' (Constant, opset 17): attribute 'value_text' is "
            "none of the operator's; did you mean 'value_int'? (attributes: 'sparse_value', "
            "'value', 'value_float', 'value_floats', 'value_int', 'value_ints', 'value_string', "
            "'value_strings'); remove it or correct its name");
}

TEST(Import, WarnsOfContradictedDeclarations) {
  std::vector<std::string> warnings;
  ImportOptions options;
  options.warn = [&](const std::string& warning) { warnings.push_back(warning); };
  const std::string graph =
      InputText("x", {"1", "2"}) + NodeText("Relu", {"x"}, {"y"}) +
      "output { name: \"y\" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } dim { "
      "dim_value: 9 } } } } }";
  ASSERT_TRUE(ImportText(graph, 17, options).ok());
  EXPECT_EQ(warnings, std::vector<std::string>{
                          "m: output 'y' is declared as float32[1, 9] but is float32[1, 2]; the "
                          "declaration is ignored"});
}

// ---- Shapes of inputs -------------------------------------------------------------------------

const std::string kOpen =
    InputText("input", {"batch", "3", ""}) + OutputText("y") + NodeText("Relu", {"input"}, {"y"});

TEST(ImportShapes, OptionsFixOpenDimensions) {
  ImportOptions options;
  options.input_shapes["input"] = {4, 3, 8};
  const auto model = ImportText(kOpen, 17, options);
  ASSERT_TRUE(model.ok()) << ErrorOf(model);
  EXPECT_EQ(ToString(model->graph.type(model->graph.inputs[0])), "float32[4, 3, 8]");
}

TEST(ImportShapes, BatchSizeFixesItsDimensionOnly) {
  ImportOptions options;
  options.batch_size = 2;
  EXPECT_EQ(ErrorOf(ImportText(kOpen, 17, options)),
            "m: input 'input' has the shape [2, 3, ?] with open dimensions; fix them, e.g. "
            "--input_shape input=2,3,1");
  options.batch_axis = -1;
  EXPECT_EQ(ErrorOf(ImportText(kOpen, 17, options)),
            "m: input 'input' has the shape [batch, 3, 2] with open dimensions; fix them, e.g. "
            "--input_shape input=1,3,2");
}

TEST(ImportShapes, AllProblemsAtOnce) {
  ImportOptions options;
  options.input_shapes["a"] = {1, 2, 3};
  options.input_shapes["b"] = {1, 5};
  options.input_shapes["inpt"] = {1};
  const std::string graph = InputText("a", {"n", "2"}) + InputText("b", {"n", "2"}) +
                            InputText("input", {"n"}) + InputText("s", {"1"}, 8) +
                            InputText("neg", {"-3"}) + OutputText("y") +
                            NodeText("Sum", {"a", "b", "input"}, {"y"});
  const auto model = ImportText(graph, 17, options);
  EXPECT_EQ(
      ErrorOf(model),
      "m: input 'a' --input_shape asks for [1, 2, 3], but the model has 2 dimensions: [n, 2]\n"
      "m: input 'b' --input_shape asks for [1, 5], but the model fixes dimension 1: [n, 2]\n"
      "m: input 'input' has the shape [n] with open dimensions; fix them, e.g. "
      "--input_shape input=1\n"
      "m: input 's' is a tensor of strings, which a compiled model cannot take; give its value "
      "with --freeze_input s=FILE\n"
      "m: input 'neg' has the shape [-3] with a negative dimension\n"
      "m: --input_shape names 'inpt', which is no input of the model; did you mean 'input'? "
      "(inputs: 'a', 'b', 'input', 's', 'neg')");
  EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ImportShapes, OtherKindsOfInput) {
  EXPECT_EQ(ErrorOf(ImportText("input { name: \"x\" type { sequence_type { elem_type { tensor_type "
                               "{ elem_type: 1 } } } } } " +
                               OutputText("y") + NodeText("Relu", {"x"}, {"y"}))),
            "m: input 'x' is a sequence, which a compiled model cannot take; give its value with "
            "--freeze_input x=FILE");
  EXPECT_EQ(
      ErrorOf(
          ImportText("input { name: \"x\" } " + OutputText("y") + NodeText("Relu", {"x"}, {"y"}))),
      "m: input 'x' is declared without a type; declare one in the model or give its value with "
      "--freeze_input x=FILE");
  EXPECT_EQ(ErrorOf(ImportText("input { name: \"x\" type { tensor_type { elem_type: 1 } } } " +
                               OutputText("y") + NodeText("Relu", {"x"}, {"y"}))),
            "m: input 'x' has no shape; give one, e.g. --input_shape x=1,...");
  EXPECT_EQ(ErrorOf(ImportText(InputText("x", {"4611686018427387904", "4"}) + OutputText("y") +
                               NodeText("Relu", {"x"}, {"y"}))),
            "m: input 'x' has the shape [4611686018427387904, 4], which is too large");
}

// ---- Operators that are not supported ---------------------------------------------------------

TEST(ImportUnsupported, AllNodesAreListed) {
  const auto model =
      ImportText(InputText("x", {"1", "2"}) + OutputText("y") +
                 NodeText("Foo", {"x"}, {"a"}, "name: \"n1\"") + NodeText("Relu", {"a"}, {"b"}) +
                 NodeText("Bar", {"b", "", "x"}, {"c"}, "domain: \"com.example\"") +
                 NodeText("Neg", {"c"}, {"y"}));
  EXPECT_EQ(
      ErrorOf(model),
      "m: operators of domain 'com.example' are not supported, the model uses Bar (node "
      "'<unnamed>' with output 'c'); export the model with operators of ONNX only\n"
      "m: node 'n1' (Foo, opset 17, inputs float32[1, 2]): the operator is not supported; replace "
      "it by operators listed in docs/operators.md");
  EXPECT_EQ(model.status().code(), absl::StatusCode::kUnimplemented);
}

TEST(ImportUnsupported, ShapesThatDependOnInputs) {
  EXPECT_EQ(ErrorOf(ImportText(InputText("x", {"2"}) + InputText("s", {"1"}, 7) + OutputText("y") +
                               NodeText("Reshape", {"x", "s"}, {"y"}, "name: \"r\""))),
            "m: node 'r' (Reshape, opset 17, inputs float32[2], int64[1]): input 1 (shape) is 's', "
            "which is an input of the model, but must be known when compiling; freeze the value or "
            "fix the shape that it comes from");
}

// ---- Models that are broken -------------------------------------------------------------------

TEST(ImportBroken, Structure) {
  EXPECT_EQ(
      ErrorOf(ImportText(kIdentity + NodeText("Abs", {"x"}, {"y"}))),
      "m: node '<unnamed>' with output 'y' (Abs) defines 'y', which is already defined by node "
      "'r' (Relu)");
  EXPECT_EQ(ErrorOf(ImportText(InputText("x", {"1"}) + OutputText("y") + OutputText("z") +
                               NodeText("Add", {"x", "w"}, {"y"}))),
            "m: node '<unnamed>' with output 'y' (Add) reads 'w', which no node, input or "
            "initializer defines\n"
            "m: output 'z' is defined by no node, input or initializer");
  EXPECT_EQ(
      ErrorOf(ImportText(InputText("x", {"1"}) + OutputText("y") +
                         NodeText("Abs", {"a"}, {"y"}, "name: \"late\"") +
                         NodeText("Relu", {"x"}, {"a"}, "name: \"early\""))),
      "m: node 'late' (Abs) reads 'a', which node 'early' (Relu) defines only later; sort the "
      "nodes topologically");
  EXPECT_EQ(ErrorOf(ImportText(InputText("x", {"1"}) + OutputText("y") +
                               NodeText("Add", {"x", "b"}, {"a"}, "name: \"n\"") +
                               NodeText("Abs", {"a"}, {"b"}, "name: \"k\"") +
                               NodeText("Abs", {"b"}, {"y"}))),
            "m: node 'n' (Add) reads 'b', which node 'k' (Abs) computes from it: the graph has a "
            "cycle");
  EXPECT_EQ(ErrorOf(ImportText(InputText("x", {"1"}))), "m: the graph has no outputs");
  EXPECT_EQ(ErrorOf(ImportText(InputText("x", {"1"}) + InputText("x", {"1"}) + OutputText("x"))),
            "m: input 'x' is defined twice");
}

TEST(ImportBroken, Header) {
  const std::string graph = " graph { " + kIdentity + "}";
  const auto error = [&](const std::string& text) {
    return ErrorOf(ImportOnnxBytes(BytesOfText(text + graph), "", {.model_name = "m"}));
  };
  EXPECT_EQ(error("ir_version: 8"),
            "m: the model does not say which opset of the default domain it uses");
  EXPECT_EQ(
      error("ir_version: 8 opset_import { version: 28 }"),
      "m: opset 28 is not supported, allowed are 1 to 27; convert the model or export it again "
      "with such an opset");
  EXPECT_EQ(
      error("ir_version: 14 opset_import { version: 0 }"),
      "m: IR version 14 is newer than the newest supported, 13; export the model with an older "
      "version of ONNX\n"
      "m: opset 0 is not supported, allowed are 1 to 27; convert the model or export it again "
      "with such an opset");
  EXPECT_EQ(error("opset_import { version: 11 }"), "m: the model has no IR version");
  EXPECT_EQ(
      error("ir_version: 8 opset_import { version: 11 } opset_import { domain: \"ai.onnx.ml\" "
            "version: 6 }"),
      "m: opset 6 of domain 'ai.onnx.ml' is not supported, allowed are 1 to 5; convert the "
      "model or export it again with such an opset");
  EXPECT_EQ(error("ir_version: 8 opset_import { version: 11 } training_info { }"),
            "m: training information is not supported; export the model for inference");
}

/// As ONNX's protocol says, nodes bind to the highest version that the model names.
TEST(Import, OfSeveralOpsetsTheHighestCounts) {
  const std::string text =
      "ir_version: 8 opset_import { version: 12 } opset_import { domain: \"ai.onnx\" version: 9 } "
      "graph { " +
      kIdentity + "}";
  const auto model = ImportOnnxBytes(BytesOfText(text), "", {.model_name = "m"});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->opset, 12);
}

TEST(ImportBroken, Bytes) {
  const auto error = [](std::string_view bytes) {
    return ErrorOf(ImportOnnxBytes(bytes, "", {.model_name = "m"}));
  };
  EXPECT_EQ(error(""), "m: the file is empty, expected an ONNX model");
  EXPECT_EQ(error("this is text"), "m: the file is truncated or not an ONNX model");
  EXPECT_EQ(error("\x89PopEFC\n"),
            "m: the file is a PopEF container, which is compiled already; popef_dump shows what it "
            "holds");
  const std::string bytes = ModelBytes(kIdentity);
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_NE(error(std::string_view(bytes).substr(0, size)), "no error") << size;
  }
}

TEST(ImportBroken, Tensors) {
  const auto error = [](const std::string& tensor) {
    return ErrorOf(ImportText(OutputText("w") + "initializer { name: \"w\" " + tensor + " }"));
  };
  EXPECT_EQ(error("data_type: 1 dims: 3 float_data: 1"),
            "m: initializer 'w' has 1 elements in float_data, but float32[3] has 3");
  EXPECT_EQ(error("data_type: 7 dims: 2 raw_data: \"123\""),
            "m: initializer 'w' has 3 bytes, but int64[2] has 16");
  EXPECT_EQ(error("data_type: 8"),
            "m: initializer 'w' has 0 elements in string_data, but string[] has 1");
  EXPECT_EQ(error("data_type: 99"), "m: initializer 'w' element type 99 is no ONNX element type");
  EXPECT_EQ(error("data_type: 1 dims: -1"), "m: initializer 'w' has the impossible shape [-1]");
  EXPECT_EQ(error("data_type: 1 dims: 4294967296 dims: 4294967296"),
            "m: initializer 'w' has the impossible shape [4294967296, 4294967296]");
}

// ---- Files ------------------------------------------------------------------------------------

class ImportFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "inner");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }

  std::string WriteModelWithData(const std::string& entries) const {
    return Write(
        "inner/m.onnx",
        ModelBytes(OutputText("w") +
                   "initializer { name: \"w\" data_type: 1 dims: 2 data_location: EXTERNAL " +
                   entries + "}"));
  }

  static std::string Entry(const std::string& key, const std::string& value) {
    return "external_data { key: \"" + key + "\" value: \"" + value + "\" } ";
  }

  std::filesystem::path folder_;
};

TEST_F(ImportFile, MissingFolderEmpty) {
  const std::string missing = (folder_ / "none.onnx").string();
  const auto result = ImportOnnxFile(missing, {});
  EXPECT_EQ(ErrorOf(result), missing + ": No such file or directory");
  EXPECT_EQ(result.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ErrorOf(ImportOnnxFile(missing, {.model_name = "m"})),
            "m: " + missing + ": No such file or directory");
  EXPECT_EQ(ErrorOf(ImportOnnxFile(folder_.string(), {})),
            folder_.string() + ": is a folder, expected a file");
  const std::string empty = Write("empty.onnx", "");
  EXPECT_EQ(ErrorOf(ImportOnnxFile(empty, {})),
            empty + ": the file is empty, expected an ONNX model");
}

TEST_F(ImportFile, NamesTheGraphLikeTheFile) {
  const auto model = ImportOnnxFile(Write("net.onnx", ModelBytes(kIdentity)), {});
  ASSERT_TRUE(model.ok()) << ErrorOf(model);
  EXPECT_EQ(model->graph.name, "net");
}

TEST_F(ImportFile, ExternalData) {
  const float values[] = {0.0F, 1.5F, 2.5F};
  Write("inner/w.bin", std::string(reinterpret_cast<const char*>(values), sizeof values));
  Write("secret", std::string(64, 's'));
  const auto model = ImportOnnxFile(
      WriteModelWithData(Entry("location", "w.bin") + Entry("offset", "4") + Entry("length", "8")),
      {});
  ASSERT_TRUE(model.ok()) << ErrorOf(model);
  const Tensor* w = model->graph.ConstantOf(model->graph.outputs[0]);
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->as<float>()[0], 1.5F);
  EXPECT_EQ(w->as<float>()[1], 2.5F);

  const auto error = [&](const std::string& entries) {
    return ErrorOf(ImportOnnxFile(WriteModelWithData(entries), {.model_name = "m"}));
  };
  const std::string prefix = "m: initializer 'w' external data ";
  EXPECT_EQ(error(Entry("location", "w.bin")),
            "m: initializer 'w' has 12 bytes, but float32[2] has 8");
  EXPECT_EQ(error(Entry("location", "w.bin") + Entry("offset", "8") + Entry("length", "8")),
            prefix + "file 'w.bin' has 12 bytes, but offset 8 with length 8 is asked for");
  EXPECT_EQ(error(Entry("location", "w.bin") + Entry("offset", "18446744073709551615")),
            prefix +
                "file 'w.bin' has 12 bytes, but offset 18446744073709551615 with length to the "
                "end is asked for");
  EXPECT_EQ(error(Entry("location", "w.bin") + Entry("offset", "-4")),
            prefix + "offset '-4' is no number of bytes");
  EXPECT_EQ(error(""), prefix +
                           "file '' is no relative path; it must be relative to the model's "
                           "folder");
  EXPECT_EQ(error(Entry("location", "/etc/passwd")),
            prefix +
                "file '/etc/passwd' is no relative path; it must be relative to the model's "
                "folder");
  const std::string outside = "' leads outside the model's folder; put the file beside the model";
  EXPECT_EQ(error(Entry("location", "../secret")), prefix + "file '../secret" + outside);
  std::filesystem::create_symlink(folder_ / "secret", folder_ / "inner" / "link");
  EXPECT_EQ(error(Entry("location", "link")), prefix + "file 'link" + outside);
  EXPECT_EQ(
      error(Entry("location", "none.bin")),
      prefix + "file " + (folder_ / "inner" / "none.bin").string() + ": No such file or directory");
}

}  // namespace
}  // namespace poprt::frontend
