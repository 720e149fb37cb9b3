#include "compiler/emit/onnx_export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "compiler/emit/write_file.hpp"
#include "compiler/frontend/model_text.hpp"

namespace poprt::emit {
namespace {

using frontend::FloatAttribute;
using frontend::FloatsText;
using frontend::InputText;
using frontend::IntAttribute;
using frontend::IntsAttribute;
using frontend::IntsText;
using frontend::NodeText;
using frontend::OutputText;

ir::Graph Import(const std::string& text, int opset = 17, const std::string& name = "m") {
  const auto model = frontend::ImportText(text, opset, {.model_name = name});
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? model->graph : ir::Graph();
}

onnx::ModelProto Parse(const absl::StatusOr<FilePieces>& bytes) {
  onnx::ModelProto model;
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  if (bytes.ok()) {
    EXPECT_TRUE(model.ParseFromString(bytes->ToString()));
  }
  return model;
}

/// ONNX's own checker knows opsets to 17.
void ExpectValid(const onnx::ModelProto& model) {
  try {
    onnx::checker::check_model(model);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\n" << model.DebugString();
  }
}

std::vector<std::string> Operators(const onnx::GraphProto& graph) {
  std::vector<std::string> operators;
  for (const onnx::NodeProto& node : graph.node()) operators.push_back(node.op_type());
  return operators;
}

void ExpectSame(const ir::Graph& a, const ir::Graph& b) {
  EXPECT_EQ(ir::ToString(a), ir::ToString(b));
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    EXPECT_EQ(a.nodes[i].name, b.nodes[i].name);
    for (std::size_t j = 0; j < a.nodes[i].inputs.size(); ++j) {
      const Tensor* x = a.ConstantOf(a.nodes[i].inputs[j]);
      const Tensor* y = b.ConstantOf(b.nodes[i].inputs[j]);
      ASSERT_EQ(x == nullptr, y == nullptr);
      if (x != nullptr) {
        EXPECT_EQ(*x, *y);
      }
    }
  }
}

/// A graph with static inputs of every kind and absent operands.
const std::string kMixed =
    InputText("x", {"2", "3", "4"}) + OutputText("y") + OutputText("z") +
    FloatsText("six", {6}, {}) + IntsText("starts", {1}, {1}) + IntsText("ends", {3}, {1}) +
    IntsText("axes", {2}, {1}) + IntsText("shape", {6, -1}, {2}) + IntsText("k", {2}, {1}) +
    NodeText("Clip", {"x", "", "six"}, {"a"}) +
    NodeText("Slice", {"a", "starts", "ends", "axes"}, {"b"}) +
    NodeText("Reshape", {"b", "shape"}, {"c"}) +
    NodeText("ReduceMean", {"c"}, {"d"}, IntsAttribute("axes", {1}) + IntAttribute("keepdims", 0)) +
    NodeText("Softmax", {"d"}, {"y"}, IntAttribute("axis", -1)) +
    NodeText("TopK", {"y", "k"}, {"v", "z"});

TEST(OnnxExport, NodesSayWhereTheyRun) {
  const std::string placed = IntAttribute("__ipu_number", 1) + IntAttribute("__pipeline_stage", 2);
  const ir::Graph graph =
      Import(InputText("x", {"2"}) + OutputText("z") + NodeText("Gelu", {"x"}, {"a"}, placed) +
                 NodeText("Abs", {"a"}, {"z"}),
             20);
  // Gelu becomes several nodes in opset 13.
  const onnx::ModelProto model = Parse(ExportOnnx(graph, 13));
  ASSERT_GT(model.graph().node_size(), 2);
  for (const onnx::NodeProto& node : model.graph().node()) {
    std::map<std::string, std::int64_t> places;
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.name().starts_with("__")) places[attribute.name()] = attribute.i();
    }
    if (node.op_type() == "Abs") {
      EXPECT_TRUE(places.empty());
    } else {
      EXPECT_EQ(places,
                (std::map<std::string, std::int64_t>{{"__ipu_number", 1}, {"__pipeline_stage", 2}}))
          << node.op_type();
    }
  }
}

TEST(OnnxExport, ExtentsThatDependOnDataAreOpenDimensions) {
  const ir::Graph graph =
      Import(InputText("x", {"2", "3"}) + OutputText("t") + OutputText("s") +
             NodeText("NonZero", {"x"}, {"p"}) + NodeText("Transpose", {"p"}, {"t"}) +
             NodeText("Shape", {"p"}, {"s"}));
  const absl::StatusOr<FilePieces> bytes = ExportOnnx(graph, 17);
  const onnx::ModelProto model = Parse(bytes);
  ExpectValid(model);
  EXPECT_THAT(Operators(model.graph()), testing::ElementsAre("NonZero", "Shape", "Gather",
                                                             "Transpose", "Unsqueeze", "Concat"));
  const auto& shape = model.graph().output(0).type().tensor_type().shape();
  EXPECT_EQ(shape.dim(0).dim_param(), "t/extent");
  EXPECT_EQ(shape.dim(1).dim_value(), 2);
  EXPECT_EQ(model.graph().node(0).output_size(), 1);

  const auto back = frontend::ImportOnnxBytes(bytes->ToString(), "", {.model_name = "m"});
  ASSERT_TRUE(back.ok()) << back.status();
  ASSERT_EQ(back->graph.extents.size(), 1U);
  EXPECT_EQ(back->graph.extents[0].axis, 0U);
  EXPECT_EQ(ToString(back->graph.type(back->graph.outputs[0])), "int64[6, 2]");
  EXPECT_EQ(back->graph.type(back->graph.outputs[1]), graph.type(graph.outputs[1]));
}

TEST(OnnxExport, RoundTripInEveryOpset) {
  const ir::Graph graph = Import(kMixed);
  for (int opset = kOldestExportOpset; opset <= 25; ++opset) {
    SCOPED_TRACE(opset);
    const absl::StatusOr<FilePieces> bytes = ExportOnnx(graph, opset);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    const onnx::ModelProto model = Parse(bytes);
    EXPECT_EQ(model.opset_import(0).version(), opset);
    if (opset <= 17) ExpectValid(model);
    const auto back = frontend::ImportOnnxBytes(bytes->ToString(), "", {.model_name = "m"});
    ASSERT_TRUE(back.ok()) << back.status();
    // Older forms count the axis from the front.
    if (opset >= 13) ExpectSame(graph, back->graph);
    EXPECT_EQ(ExportOnnx(graph, opset)->ToString(), bytes->ToString());
  }
}

TEST(OnnxExport, ForestsAreOfTheirOwnDomain) {
  const auto list = [](const std::string& name, const std::string& kind,
                       const std::string& values) {
    return "attribute { name: \"" + name + "\" type: " + kind + " " + values + " } ";
  };
  const auto model = frontend::ImportOnnxBytes(
      frontend::BytesOfText(
          "ir_version: 8 opset_import { domain: \"ai.onnx.ml\" version: 3 } graph { name: \"g\" " +
          InputText("x", {"2", "1"}) + OutputText("y") +
          NodeText(
              "TreeEnsembleRegressor", {"x"}, {"y"},
              "name: \"t\" domain: \"ai.onnx.ml\" " + IntsAttribute("nodes_treeids", {0, 0, 0}) +
                  IntsAttribute("nodes_nodeids", {0, 1, 2}) +
                  IntsAttribute("nodes_featureids", {0, 0, 0}) +
                  IntsAttribute("nodes_truenodeids", {1, 0, 0}) +
                  IntsAttribute("nodes_falsenodeids", {2, 0, 0}) +
                  list("nodes_values", "FLOATS", "floats: [0.5, 0, 0]") +
                  list("nodes_modes", "STRINGS", "strings: [\"BRANCH_LT\", \"LEAF\", \"LEAF\"]") +
                  IntsAttribute("target_treeids", {0, 0}) +
                  IntsAttribute("target_nodeids", {1, 2}) + IntsAttribute("target_ids", {0, 0}) +
                  list("target_weights", "FLOATS", "floats: [3, 4]")) +
          "}"),
      "", {.model_name = "m"});
  ASSERT_TRUE(model.ok()) << model.status();
  const absl::StatusOr<FilePieces> bytes = ExportOnnx(model->graph, 17);
  const onnx::ModelProto written = Parse(bytes);
  ASSERT_EQ(written.opset_import_size(), 2);
  EXPECT_EQ(written.opset_import(1).domain(), "ai.onnx.ml");
  EXPECT_EQ(written.opset_import(1).version(), 5);
  EXPECT_EQ(written.graph().node(0).domain(), "ai.onnx.ml");
  const auto back = frontend::ImportOnnxBytes(bytes->ToString(), "", {.model_name = "m"});
  ASSERT_TRUE(back.ok()) << back.status();
  const Attributes& attributes = back->graph.nodes.at(0).attributes;
  for (const char* name : {"leaf_weights", "nodes_modes", "nodes_splits", "nodes_trueleafs"}) {
    EXPECT_EQ(attributes.get_ints(name), model->graph.nodes.at(0).attributes.get_ints(name))
        << name;
  }
}

TEST(OnnxExport, StaticInputsAreInputsOrAttributesAsTheOpsetHasThem) {
  const ir::Graph graph =
      Import(InputText("x", {"4", "1"}) + OutputText("y") + IntsText("axes", {1}, {1}) +
             NodeText("Squeeze", {"x", "axes"}, {"y"}, "name: \"s\""));
  const onnx::ModelProto newer = Parse(ExportOnnx(graph, 13));
  ASSERT_EQ(newer.graph().initializer_size(), 1);
  EXPECT_EQ(newer.graph().initializer(0).name(), "s/axes");
  EXPECT_EQ(newer.graph().node(0).input(1), "s/axes");
  EXPECT_EQ(newer.ir_version(), 7);
  const onnx::ModelProto older = Parse(ExportOnnx(graph, 11));
  EXPECT_EQ(older.graph().initializer_size(), 0);
  EXPECT_EQ(older.graph().node(0).attribute(0).ints(0), 1);
  EXPECT_EQ(older.ir_version(), 6);
}

TEST(OnnxExport, RecurrentAndSignalOperatorsRoundTrip) {
  const std::string activations =
      "attribute { name: \"activations\" type: STRINGS strings: \"Relu\" strings: \"Elu\" } ";
  const ir::Graph graph = Import(
      InputText("x", {"5", "2", "3"}) + InputText("s", {"2", "8", "1"}) + OutputText("h") +
      OutputText("f") + OutputText("t") +
      FloatsText("w", std::vector<float>(36, 0.5F), {1, 12, 3}) +
      FloatsText("r", std::vector<float>(48, 0.25F), {1, 12, 4}) +
      FloatsText("window", {0, 1, 1, 0}, {4}) + IntsText("step", {2}, {}) +
      NodeText("GRU", {"x", "w", "r"}, {"", "h"}, activations + IntAttribute("hidden_size", 4)) +
      NodeText("DFT", {"s"}, {"f"}, IntAttribute("onesided", 1)) +
      NodeText("STFT", {"s", "step", "window"}, {"t"}));
  for (int opset = 17; opset <= 25; ++opset) {
    SCOPED_TRACE(opset);
    const absl::StatusOr<FilePieces> bytes = ExportOnnx(graph, opset);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    if (opset == 17) ExpectValid(Parse(bytes));
    const auto back = frontend::ImportOnnxBytes(bytes->ToString(), "", {.model_name = "m"});
    ASSERT_TRUE(back.ok()) << back.status();
    ExpectSame(graph, back->graph);
  }
}

TEST(OnnxExport, OldSoftmaxOfAnInnerAxisIsTransposed) {
  const ir::Graph graph = Import(InputText("x", {"2", "3", "4"}) + OutputText("y") +
                                 NodeText("Softmax", {"x"}, {"y"}, IntAttribute("axis", 1)));
  const onnx::ModelProto model = Parse(ExportOnnx(graph, 12));
  ExpectValid(model);
  EXPECT_THAT(Operators(model.graph()), testing::ElementsAre("Transpose", "Softmax", "Transpose"));
  EXPECT_EQ(model.graph().node(1).attribute(0).i(), 2);
  EXPECT_EQ(model.graph().node(2).attribute(0).ints(1), 2);
}

TEST(OnnxExport, NewerOperatorsAreDecomposed) {
  const ir::Graph graph = Import(
      InputText("x", {"1", "4", "2"}) + OutputText("y") + FloatsText("s", {1, 2, 3, 4}, {4}) +
          FloatsText("b", {1, 2}, {2}) + NodeText("Gelu", {"x"}, {"a"}) +
          NodeText("Gelu", {"a"}, {"a2"}, frontend::TextAttribute("approximate", "tanh")) +
          NodeText("GroupNormalization", {"a2", "s", "s"}, {"c"}, IntAttribute("num_groups", 2)) +
          NodeText("LayerNormalization", {"c", "b", "b"}, {"d"}) + NodeText("Mish", {"d"}, {"e"}) +
          NodeText("HardSwish", {"e"}, {"y"}),
      21);
  for (int opset = kOldestExportOpset; opset <= 25; ++opset) {
    SCOPED_TRACE(opset);
    const absl::StatusOr<FilePieces> bytes = ExportOnnx(graph, opset);
    if (opset <= 17) ExpectValid(Parse(bytes));
    const auto back = frontend::ImportOnnxBytes(bytes->ToString(), "", {.model_name = "m"});
    EXPECT_TRUE(back.ok()) << back.status();
  }
}

TEST(OnnxExport, EveryNodeWithoutAFormIsNamed) {
  const ir::Graph graph = Import(InputText("x", {"2"}, 6) + OutputText("y") + OutputText("z") +
                                     NodeText("BitwiseNot", {"x"}, {"y"}, "name: \"n\"") +
                                     NodeText("BitwiseAnd", {"x", "x"}, {"z"}, "name: \"a\""),
                                 18);
  const auto result = ExportOnnx(graph, 17);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(
      result.status().message(),
      "m: node 'n' (BitwiseNot) cannot be written as ONNX of opset 17: BitwiseNot needs opset "
      "18\n"
      "m: node 'a' (BitwiseAnd) cannot be written as ONNX of opset 17: BitwiseAnd needs opset "
      "18");
  EXPECT_EQ(ExportOnnx(graph, 10).status().message(),
            "ONNX of opset 10 cannot be written, allowed are 11 to 27");
}

TEST(OnnxExport, TypesThatTheOldFormDoesNotTakeAreRefused) {
  const ir::Graph graph = Import(InputText("x", {"2"}, 16) + OutputText("y") +
                                 NodeText("Relu", {"x"}, {"y"}, "name: \"r\""));
  EXPECT_EQ(ExportOnnx(graph, 12).status().message(),
            "m: node 'r' (Relu) cannot be written as ONNX of opset 12: Relu takes no bfloat16 as "
            "input 0");
  ExpectValid(Parse(ExportOnnx(graph, 14)));
}

TEST(OnnxExport, OutputsThatAreInputsConstantsOrRepeated) {
  ir::Graph graph;
  graph.name = "m";
  const TensorType type{ElementType::kFloat32, {1}};
  graph.inputs = {graph.AddValue("x", type)};
  const ir::ValueId constant = graph.AddConstant("c", Tensor(type));
  ir::Node node = graph.MakeNode("Relu", {graph.inputs[0]}, type, {}, "relu");
  const ir::ValueId result = node.outputs[0];
  graph.nodes.push_back(std::move(node));
  graph.outputs = {result, result, graph.inputs[0], constant};
  graph.output_names = {"y", "again", "copy", "c"};
  const onnx::ModelProto model = Parse(ExportOnnx(graph));
  ExpectValid(model);
  EXPECT_EQ(model.graph().node(0).output(0), "y");
  EXPECT_THAT(Operators(model.graph()),
              testing::ElementsAre("Relu", "Identity", "Identity", "Identity"));
  EXPECT_EQ(model.graph().node(3).output(0), "c");
  EXPECT_EQ(model.graph().node(3).input(0), "c_1");
}

/// graph<i>/x -> Add of a shared weight and Relu -> graph<i>/y
ir::Graph FusedPart(int i, const std::string& element) {
  const std::string p = "graph" + std::to_string(i) + "/";
  return Import(InputText(p + "x", {element}) + OutputText(p + "y") +
                    FloatsText(p + "w", {3}, {1}) +
                    NodeText("Add", {p + "x", p + "w"}, {p + "a"}, "name: \"" + p + "add\"") +
                    NodeText("Relu", {p + "a"}, {p + "y"}, "name: \"" + p + "relu\""),
                17, "graph" + std::to_string(i));
}

TEST(OnnxExport, FusedModelsAreNestedIfs) {
  const std::vector<ir::Graph> graphs = {FusedPart(0, "2"), FusedPart(1, "3"), FusedPart(2, "4")};
  for (int opset : {11, 13, 17}) {
    SCOPED_TRACE(opset);
    const onnx::ModelProto model = Parse(ExportFusedOnnx(graphs, opset));
    ExpectValid(model);
    const onnx::GraphProto& top = model.graph();
    ASSERT_EQ(top.input_size(), 4);
    EXPECT_EQ(top.input(1).name(), "graph1/x");
    EXPECT_EQ(top.input(3).name(), "index");
    EXPECT_EQ(top.input(3).type().tensor_type().elem_type(), onnx::TensorProto::UINT32);
    ASSERT_EQ(top.output_size(), 3);
    EXPECT_EQ(top.output(2).name(), "graph2/y");
    EXPECT_THAT(Operators(top), testing::ElementsAre("Cast", "Equal", "If"));
    const onnx::GraphProto& then_branch = top.node(2).attribute(0).g();
    EXPECT_EQ(top.node(2).attribute(0).name(), "then_branch");
    EXPECT_THAT(Operators(then_branch),
                testing::ElementsAre("Add", "Relu", "ConstantOfShape", "ConstantOfShape"));
    EXPECT_EQ(then_branch.input_size(), 0);
    EXPECT_EQ(then_branch.output_size(), 3);
    EXPECT_EQ(then_branch.node(0).input(0), "graph0/x");
    EXPECT_EQ(then_branch.node(0).input(1), "graph0/w");
    const onnx::GraphProto& inner = top.node(2).attribute(1).g();
    EXPECT_THAT(Operators(inner), testing::ElementsAre("Equal", "If"));
    const onnx::GraphProto& last = inner.node(1).attribute(1).g();
    EXPECT_THAT(Operators(last),
                testing::ElementsAre("ConstantOfShape", "ConstantOfShape", "Add", "Relu"));
    // Equal weights are written once.
    EXPECT_EQ(last.node(2).input(1), "graph0/w");
    int weights = 0;
    for (const onnx::TensorProto& tensor : top.initializer()) {
      if (tensor.data_type() == onnx::TensorProto::FLOAT) ++weights;
    }
    EXPECT_EQ(weights, 1);
  }
}

TEST(OnnxExport, FusedNamesMustBeDistinct) {
  const std::vector<ir::Graph> graphs = {FusedPart(0, "2"), FusedPart(0, "3")};
  EXPECT_EQ(ExportFusedOnnx(graphs).status().message(),
            "two inputs or outputs of the fused model are called 'graph0/x'");
  EXPECT_EQ(ExportFusedOnnx({}).status().message(),
            "a fused ONNX model holds 1 to 30 models, not 0");
}

TEST(OnnxExport, OneFusedModelNeedsNoIf) {
  const std::vector<ir::Graph> graphs = {FusedPart(0, "2")};
  const onnx::ModelProto model = Parse(ExportFusedOnnx(graphs));
  ExpectValid(model);
  EXPECT_THAT(Operators(model.graph()), testing::ElementsAre("Add", "Relu"));
  EXPECT_EQ(model.graph().input(1).name(), "index");
}

TEST(WriteFileAtomically, WritesReplacesAndCleansUp) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "write_file";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "f.onnx").string();
  ASSERT_TRUE(WriteFileAtomically(path, "one").ok());
  ASSERT_TRUE(WriteFileAtomically(path, "two").ok());
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "two");
  const std::string missing = (folder / "none" / "f.onnx").string();
  const absl::Status status = WriteFileAtomically(missing, "x");
  EXPECT_EQ(status.message(), missing + ": cannot be written: No such file or directory");
  std::filesystem::create_directory(folder / "taken");
  EXPECT_EQ(WriteFileAtomically((folder / "taken").string(), "x").message(),
            (folder / "taken").string() + ": cannot be written: Is a directory");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);
  std::filesystem::remove_all(folder);
}

std::string ExportError(const ir::Graph& graph, int opset) {
  return std::string(ExportOnnx(graph, opset).status().message());
}

TEST(OnnxExport, QuantizationInEveryOpsetThatHasIt) {
  const ir::Graph graph =
      Import(InputText("x", {"2", "4"}) + OutputText("y") + FloatsText("s", {0.5F}, {}) +
                 NodeText("QuantizeLinear", {"x", "s"}, {"q"}, IntAttribute("output_dtype", 3)) +
                 NodeText("DequantizeLinear", {"q", "s"}, {"y"}),
             22);
  for (int opset = 11; opset <= 25; ++opset) {
    SCOPED_TRACE(opset);
    const absl::StatusOr<FilePieces> bytes = ExportOnnx(graph, opset);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    if (opset <= 17) ExpectValid(Parse(bytes));
    const auto again = frontend::ImportOnnxBytes(bytes->ToString(), "", {.model_name = "m"});
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->graph.type(again->graph.nodes[0].outputs[0]).element, ElementType::kInt8);
  }
}

TEST(OnnxExport, NarrowTypesNeedNewOpsets) {
  const auto cast = [](int to, int opset) {
    return Import(InputText("x", {"2"}) + OutputText("y") +
                      NodeText("Cast", {"x"}, {"y"}, "name: \"c\" " + IntAttribute("to", to)),
                  opset);
  };
  EXPECT_THAT(ExportError(cast(17, 21), 18), ::testing::HasSubstr("float8e4m3fn needs opset 19"));
  EXPECT_EQ(ExportError(cast(17, 21), 19), "");
  EXPECT_THAT(ExportError(cast(22, 21), 17), ::testing::HasSubstr("int4 needs opset 21"));
  EXPECT_EQ(ExportError(cast(22, 21), 21), "");
}

TEST(OnnxExport, BlocksOfScalesNeedOpset21) {
  const ir::Graph graph =
      Import(InputText("x", {"2", "4"}) + OutputText("y") + FloatsText("s", {1, 2, 3, 4}, {2, 2}) +
                 NodeText("QuantizeLinear", {"x", "s"}, {"y"}, IntAttribute("block_size", 2)),
             21);
  EXPECT_THAT(ExportError(graph, 20), ::testing::HasSubstr("scaling in blocks needs opset 21"));
  EXPECT_EQ(ExportError(graph, 21), "");
}

}  // namespace
}  // namespace poprt::emit
