#include "compiler/emit/onnx_export.hpp"

#include <onnx/onnx_pb.h>

#include <exception>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "compiler/emit/onnx_graph_writer.hpp"
#include "compiler/frontend/proto/protobuf_field.hpp"
#include "compiler/ops/op.hpp"

namespace poprt::emit {
namespace {

/// Every graph but the last adds a level of nesting, and readers of ONNX give up at 100 nested
/// messages, of which a level takes three.
constexpr std::size_t kMostFusedGraphs = 30;

/// The version of the file format that came with an opset.
int IrVersion(int opset) {
  static constexpr struct {
    int opset;
    int version;
  } versions[] = {{25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}, {15, 8}, {12, 7}, {11, 6}};
  for (const auto& row : versions) {
    if (opset >= row.opset) return row.version;
  }
  return versions[7].version;
}

absl::Status CheckOpset(int opset) {
  if (opset >= kOldestExportOpset && opset <= ops::kNewestOpset) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "ONNX of opset " + std::to_string(opset) + " cannot be written, allowed are " +
      std::to_string(kOldestExportOpset) + " to " + std::to_string(ops::kNewestOpset));
}

absl::Status TooLarge(const std::string& name) {
  return absl::InvalidArgumentError(
      name +
      ": the model is larger than 2 GB, which an ONNX file cannot hold; do not ask for the "
      "converted model, or use fp16");
}

/// The version of ai.onnx.ml whose forms the operator table has.
constexpr int kMlVersion = 5;

bool UsesMlDomain(const onnx::GraphProto& graph) {
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.domain() == ops::kMlDomain) return true;
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g() && UsesMlDomain(attribute.g())) return true;
    }
  }
  return false;
}

/// One ONNX model in the making.
class ModelWriter {
 public:
  ModelWriter(const std::string& name, int opset)
      : opset_(opset), constants_(model_.mutable_graph(), names_) {
    model_.set_ir_version(IrVersion(opset));
    model_.set_producer_name("poprt");
    model_.add_opset_import()->set_version(opset);
    model_.mutable_graph()->set_name(name.empty() ? "model" : name);
  }

  onnx::GraphProto* top() { return model_.mutable_graph(); }
  OnnxNames& names() { return names_; }

  OnnxNodeWriter NodesOf(onnx::GraphProto* scope) {
    return OnnxNodeWriter(opset_, names_, constants_, scope);
  }

  void WriteGraph(const ir::Graph& graph, std::vector<std::string> output_names,
                  bool share_constants, onnx::GraphProto* scope) {
    OnnxNodeWriter nodes = NodesOf(scope);
    OnnxGraphWriter(graph, std::move(output_names), names_, constants_)
        .Write(nodes, share_constants, problems_);
  }

  void Report(const absl::Status& status) {
    if (!status.ok()) problems_.emplace_back(status.message());
  }

  absl::StatusOr<FilePieces> Finish() {
    if (!problems_.empty()) return absl::UnimplementedError(absl::StrJoin(problems_, "\n"));
    if (UsesMlDomain(model_.graph())) {
      onnx::OperatorSetIdProto* import = model_.add_opset_import();
      import->set_domain(std::string(ops::kMlDomain));
      import->set_version(kMlVersion);
    }
    if (constants_.too_large()) return TooLarge(model_.graph().name());
    onnx::GraphProto graph;
    model_.mutable_graph()->Swap(&graph);
    model_.clear_graph();
    const std::string text = frontend::Serialized(graph);
    FilePieces file;
    file.Append(frontend::Serialized(model_));
    file.Append(frontend::FieldHead(onnx::ModelProto::kGraphFieldNumber,
                                    text.size() + constants_.SerializedSize()));
    file.Append(text);
    constants_.AppendTo(file);
    if (file.bytes() > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
      return TooLarge(graph.name());
    }
    return file;
  }

 private:
  int opset_;
  onnx::ModelProto model_;
  OnnxNames names_;
  OnnxConstants constants_;
  std::vector<std::string> problems_;
};

/// Builds the nested If of ExportFusedOnnx.
class FusedWriter {
 public:
  FusedWriter(std::span<const ir::Graph> graphs, int opset)
      : graphs_(graphs), model_("model_fusion", opset) {}

  absl::StatusOr<FilePieces> Run() {
    if (absl::Status status = TakeNames(); !status.ok()) return status;
    for (const ir::Graph& graph : graphs_) {
      for (ir::ValueId id : graph.inputs) {
        WriteValueInfo(graph.value(id).name, graph.type(id), model_.top()->add_input());
      }
    }
    WriteValueInfo("index", {ElementType::kUint32, {1}}, model_.top()->add_input());
    std::vector<std::string> outputs;
    for (const ir::Graph& graph : graphs_) {
      for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
        WriteOutputInfo(graph, i, graph.output_names[i], model_.top()->add_output());
        outputs.push_back(graph.output_names[i]);
      }
    }
    OnnxNodeWriter nodes = model_.NodesOf(model_.top());
    if (graphs_.size() > 1) {
      // Opset 11 compares signed integers only.
      absl::Status status;
      index_ =
          nodes.Emit("index/Cast", "Cast", {{.name = "index", .type = {ElementType::kUint32, {1}}}},
                     {ElementType::kInt64, {1}},
                     {{"to", static_cast<std::int64_t>(ElementType::kInt64)}}, status);
      model_.Report(status);
    }
    WriteChoice(0, outputs, model_.top());
    return model_.Finish();
  }

 private:
  absl::Status TakeNames() {
    model_.names().Take("index");
    for (const ir::Graph& graph : graphs_) {
      for (ir::ValueId id : graph.inputs) {
        if (!model_.names().Take(graph.value(id).name)) return NotDistinct(graph.value(id).name);
      }
      for (const std::string& name : graph.output_names) {
        if (!model_.names().Take(name)) return NotDistinct(name);
      }
    }
    return absl::OkStatus();
  }

  static absl::Status NotDistinct(const std::string& name) {
    return absl::InvalidArgumentError("two inputs or outputs of the fused model are called '" +
                                      name + "'");
  }

  /// Runs graph `selected` if the index says so and otherwise one of those behind it. `outputs` are
  /// the outputs of all graphs as they are called in this scope.
  void WriteChoice(std::size_t selected, const std::vector<std::string>& outputs,
                   onnx::GraphProto* scope) {
    if (selected + 1 == graphs_.size()) {
      WriteBranch(selected, outputs, scope);
      return;
    }
    OnnxNodeWriter nodes = model_.NodesOf(scope);
    const std::string stem = "select_" + std::to_string(selected);
    const auto number = static_cast<std::int64_t>(selected);
    absl::Status status;
    const OnnxValue constant =
        nodes.Constant(stem + "/index", Tensor({ElementType::kInt64, {1}}, &number));
    const OnnxValue condition = nodes.Emit(stem + "/Equal", "Equal", {index_, constant},
                                           {ElementType::kBool, {1}}, {}, status);
    model_.Report(status);
    onnx::NodeProto* node = scope->add_node();
    node->set_name(model_.names().Unique(stem + "/If"));
    node->set_op_type("If");
    node->add_input(condition.name);
    for (const std::string& output : outputs) node->add_output(output);
    for (const bool is_then : {true, false}) {
      onnx::AttributeProto* attribute = node->add_attribute();
      attribute->set_name(is_then ? "then_branch" : "else_branch");
      attribute->set_type(onnx::AttributeProto::GRAPH);
      onnx::GraphProto* branch = attribute->mutable_g();
      branch->set_name(stem + (is_then ? "/then" : "/else"));
      const std::vector<std::string> names = DeclareOutputs(branch);
      if (is_then) {
        WriteBranch(selected, names, branch);
      } else {
        WriteChoice(selected + 1, names, branch);
      }
    }
  }

  /// ONNX allows no name twice, not even in different scopes.
  std::vector<std::string> DeclareOutputs(onnx::GraphProto* branch) {
    std::vector<std::string> names;
    for (const ir::Graph& graph : graphs_) {
      for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
        names.push_back(model_.names().Unique(graph.output_names[i] + ":" + branch->name()));
        WriteOutputInfo(graph, i, names.back(), branch->add_output());
      }
    }
    return names;
  }

  void WriteBranch(std::size_t selected, const std::vector<std::string>& outputs,
                   onnx::GraphProto* scope) {
    auto name = outputs.begin();
    for (std::size_t i = 0; i < graphs_.size(); ++i) {
      const ir::Graph& graph = graphs_[i];
      const auto last = name + static_cast<std::ptrdiff_t>(graph.outputs.size());
      if (i == selected) {
        model_.WriteGraph(graph, {name, last}, /*share_constants=*/true, scope);
      } else {
        for (ir::ValueId id : graph.outputs) WriteZeros(*name++, graph.type(id), scope);
      }
      name = last;
    }
  }

  void WriteZeros(const std::string& name, const TensorType& type, onnx::GraphProto* scope) {
    OnnxNodeWriter nodes = model_.NodesOf(scope);
    // Before opset 20 ConstantOfShape makes no bfloat16, later ones not all narrow types.
    const bool is_cast = type.element == ElementType::kBFloat16 || IsNarrowFloat(type.element) ||
                         IsNarrowInteger(type.element);
    const ElementType element = is_cast ? ElementType::kFloat32 : type.element;
    const Attributes attributes{{"shape", Ints(type.shape)}, {"value", Tensor({element, {1}})}};
    OnnxValue result{.name = name, .type = type};
    absl::Status status;
    if (is_cast) {
      const OnnxValue zeros = nodes.Emit(name + "/ConstantOfShape", "ConstantOfShape", {},
                                         {element, type.shape}, attributes, status);
      status.Update(nodes.Write({.name = model_.names().Unique(name + "/Cast"),
                                 .op = "Cast",
                                 .inputs = {zeros},
                                 .outputs = {result},
                                 .attributes = {{"to", static_cast<std::int64_t>(type.element)}}}));
    } else {
      status = nodes.Write({.name = model_.names().Unique(name + "/ConstantOfShape"),
                            .op = "ConstantOfShape",
                            .inputs = {},
                            .outputs = {result},
                            .attributes = attributes});
    }
    model_.Report(status);
  }

  std::span<const ir::Graph> graphs_;
  ModelWriter model_;
  OnnxValue index_;
};

}  // namespace

absl::StatusOr<FilePieces> ExportOnnx(const ir::Graph& graph, int opset) {
  if (absl::Status status = CheckOpset(opset); !status.ok()) return status;
  try {
    ModelWriter model(graph.name, opset);
    for (ir::ValueId id : graph.inputs) {
      WriteValueInfo(graph.value(id).name, graph.type(id), model.top()->add_input());
      model.names().Take(graph.value(id).name);
    }
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      WriteOutputInfo(graph, i, graph.output_names[i], model.top()->add_output());
      model.names().Take(graph.output_names[i]);
    }
    model.WriteGraph(graph, graph.output_names, /*share_constants=*/false, model.top());
    return model.Finish();
  } catch (const std::exception& error) {
    return absl::InternalError(graph.name + ": writing ONNX failed: " + error.what());
  }
}

absl::StatusOr<FilePieces> ExportFusedOnnx(std::span<const ir::Graph> graphs, int opset) {
  if (absl::Status status = CheckOpset(opset); !status.ok()) return status;
  if (graphs.empty() || graphs.size() > kMostFusedGraphs) {
    return absl::InvalidArgumentError("a fused ONNX model holds 1 to " +
                                      std::to_string(kMostFusedGraphs) + " models, not " +
                                      std::to_string(graphs.size()));
  }
  try {
    return FusedWriter(graphs, opset).Run();
  } catch (const std::exception& error) {
    return absl::InternalError(std::string("writing the fused ONNX model failed: ") + error.what());
  }
}

}  // namespace poprt::emit
