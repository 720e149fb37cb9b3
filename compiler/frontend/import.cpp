#include "compiler/frontend/import.hpp"

#include <onnx/onnx_pb.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_join.h"
#include "compiler/frontend/attribute_proto.hpp"
#include "compiler/frontend/external_data.hpp"
#include "compiler/frontend/graph_builder.hpp"
#include "compiler/frontend/graph_structure.hpp"
#include "compiler/frontend/mapped_file.hpp"
#include "compiler/frontend/model_file.hpp"
#include "compiler/frontend/model_inputs.hpp"
#include "compiler/frontend/problems.hpp"
#include "compiler/frontend/tensor_proto.hpp"
#include "compiler/ops/op.hpp"

namespace poprt::frontend {
namespace {

/// Why nodes of that operator cannot be imported and what to do; empty if they can.
std::string WhyUnsupported(const onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  if (!IsDefaultDomain(node.domain())) {
    return "operators of domain '" + node.domain() +
           "' are not supported; export the model with operators of ONNX's default domain only";
  }
  if (op == "If" || op == "Loop" || op == "Scan") {
    return "operators with subgraphs are not supported; make the condition constant or unroll the "
           "loop when exporting the model";
  }
  const ops::OpDef* def = ops::FindOp(op);
  const bool is_known =
      op == "Constant" || IsReplaced(op) || (def != nullptr && def->since <= ops::kNewestOpset);
  if (is_known) return "";
  return "the operator is not supported; replace it by operators listed in docs/operators.md";
}

/// Turns one model into a graph. Every step adds to the problems and goes on as far as it makes
/// sense.
class Importer {
 public:
  Importer(onnx::ModelProto& model, const std::string& base_folder, const ImportOptions& options,
           Problems& problems)
      : proto_(model), options_(options), problems_(problems), external_(base_folder) {}

  absl::StatusOr<ImportedModel> Run() {
    ModelHeader header;
    if (absl::Status status = ReadHeader(proto_, &header); !status.ok()) problems_.Add(status);
    structure_ = CheckStructure(proto_.graph(), problems_);
    const bool is_broken = !problems_.empty();
    const std::vector<ModelInput> inputs = ResolveInputs(proto_.graph(), options_, problems_);
    if (header.opset == 0) return problems_.ToStatus();
    if (is_broken) {
      // With names that mean nothing, types and shapes would be noise.
      ReportUnsupported(header.opset);
      return problems_.ToStatus();
    }
    opset_ = header.opset;
    builder_.emplace(structure_.used, options_.max_tensor_size);
    ReserveNames();
    for (const ModelInput& input : inputs) {
      if (input.type) builder_->AddInput(input.name, *input.type);
    }
    WarnOfUnusedBatchSize(inputs);
    ImportInitializers();
    for (int i = 0; i < proto_.graph().node_size(); ++i) {
      if (structure_.live[static_cast<std::size_t>(i)]) ImportNode(i);
    }
    if (!problems_.empty()) return problems_.ToStatus();
    return Finish();
  }

 private:
  void ReserveNames() {
    const onnx::GraphProto& graph = proto_.graph();
    for (const auto& input : graph.input()) builder_->Reserve(input.name());
    for (const auto& tensor : graph.initializer()) builder_->Reserve(tensor.name());
    for (const auto& node : graph.node()) {
      for (const std::string& output : node.output()) builder_->Reserve(output);
    }
    for (const std::string& name : structure_.node_names) builder_->Reserve(name);
  }

  void WarnOfUnusedBatchSize(const std::vector<ModelInput>& inputs) const {
    if (!options_.batch_size) return;
    for (const ModelInput& input : inputs) {
      if (!input.type) return;
      const auto axis = NormalizeAxis(options_.batch_axis, input.type->shape.size());
      if (axis && input.type->shape[static_cast<std::size_t>(*axis)] == *options_.batch_size)
        return;
    }
    options_.warn(problems_.model() + ": the batch size " + std::to_string(*options_.batch_size) +
                  " has no effect: no input is open in dimension " +
                  std::to_string(options_.batch_axis));
  }

  void ImportInitializers() {
    onnx::GraphProto& graph = *proto_.mutable_graph();
    for (const onnx::SparseTensorProto& sparse : graph.sparse_initializer()) {
      problems_.Add(absl::UnimplementedError("initializer '" + sparse.values().name() +
                                             "' is sparse, which is not supported"));
    }
    for (onnx::TensorProto& initializer : *graph.mutable_initializer()) {
      if (!builder_->IsUsed(initializer.name())) continue;
      absl::StatusOr<Tensor> tensor = TensorFromProto(initializer, &external_);
      // Weights are most of a model; holding them twice would double the memory.
      if (initializer.has_raw_data()) {
        const std::unique_ptr<std::string> freed(initializer.release_raw_data());
      }
      if (tensor.ok()) {
        builder_->DefineConstant(initializer.name(), *std::move(tensor));
      } else {
        problems_.Add(tensor.status(), "initializer '" + initializer.name() + "' ");
      }
    }
  }

  /// "node 'a' (Conv, opset 13, inputs float32[1, 3], ?): ".
  std::string Where(const onnx::NodeProto& node, int opset) const {
    std::string text = Describe(node);
    text.pop_back();
    text += ", opset " + std::to_string(opset);
    if (node.input_size() > 0) {
      text +=
          ", inputs " + absl::StrJoin(node.input(), ", ", [&](std::string* out, const auto& name) {
            const ir::ValueId* value = builder_ ? builder_->Find(name) : nullptr;
            *out += name.empty()       ? "-"
                    : value == nullptr ? "?"
                                       : ToString(builder_->graph().type(*value));
          });
    }
    return text + "): ";
  }

  /// For when the graph cannot be built: what would be left when its names are mended.
  void ReportUnsupported(int opset) {
    for (int i = 0; i < proto_.graph().node_size(); ++i) {
      const onnx::NodeProto& node = proto_.graph().node(i);
      const std::string why = WhyUnsupported(node);
      if (!why.empty()) problems_.Add(absl::UnimplementedError(why), Where(node, opset));
    }
  }

  void ImportNode(int position) {
    const onnx::NodeProto& node = proto_.graph().node(position);
    if (const std::string why = WhyUnsupported(node); !why.empty()) {
      problems_.Add(absl::UnimplementedError(why), Where(node, opset_));
      return;
    }
    SourceNode source{.name = structure_.node_names[static_cast<std::size_t>(position)],
                      .op = node.op_type(),
                      .inputs = {},
                      .outputs = {node.output().begin(), node.output().end()},
                      .attributes = {}};
    for (const std::string& name : node.input()) {
      const ir::ValueId* value = name.empty() ? &ir::kAbsent : builder_->Find(name);
      // What defines it has been reported; more about its users would only repeat that.
      if (value == nullptr) return;
      source.inputs.push_back(*value);
    }
    if (absl::Status status = ImportKnown(node, std::move(source)); !status.ok()) {
      problems_.Add(status, Where(node, opset_));
    }
  }

  absl::Status ImportKnown(const onnx::NodeProto& node, SourceNode source) {
    absl::StatusOr<Attributes> attributes = AttributesFromProto(node, external_);
    if (!attributes.ok()) return attributes.status();
    source.attributes = *std::move(attributes);
    if (source.op == "Constant") return ImportConstant(source);
    TrimUnused(source);
    try {
      if (absl::Status status = Upgrade(opset_, source, *builder_); !status.ok()) return status;
    } catch (const std::invalid_argument& error) {
      return absl::InvalidArgumentError(error.what());
    }
    return builder_->Place(std::move(source));
  }

  /// Leaves out optional outputs that nobody reads. The outputs of operators with any number of
  /// them count.
  void TrimUnused(SourceNode& node) const {
    const ops::OpDef* def = ops::FindOp(node.op);
    if (def == nullptr || def->outputs.max == ops::kAnyNumber) return;
    while (node.outputs.size() > def->outputs.min && !builder_->IsUsed(node.outputs.back())) {
      node.outputs.pop_back();
    }
  }

  absl::Status ImportConstant(const SourceNode& node) {
    const auto& entries = node.attributes.entries();
    if (entries.size() != 1 || node.outputs.size() != 1) {
      return absl::InvalidArgumentError("must have exactly one attribute and one output");
    }
    const auto& [name, value] = entries.front();
    Tensor tensor;
    if (const auto* held = std::get_if<Tensor>(&value); held != nullptr && name == "value") {
      tensor = *held;
    } else if (const auto* number = std::get_if<float>(&value); number && name == "value_float") {
      tensor = Tensor({ElementType::kFloat32, {}}, number);
    } else if (const auto* integer = std::get_if<std::int64_t>(&value);
               integer != nullptr && name == "value_int") {
      tensor = Tensor({ElementType::kInt64, {}}, integer);
    } else if (const auto* floats = std::get_if<Floats>(&value); floats && name == "value_floats") {
      tensor = Tensor({ElementType::kFloat32, {static_cast<std::int64_t>(floats->size())}},
                      floats->data());
    } else if (const auto* ints = std::get_if<Ints>(&value); ints && name == "value_ints") {
      tensor =
          Tensor({ElementType::kInt64, {static_cast<std::int64_t>(ints->size())}}, ints->data());
    } else {
      return absl::UnimplementedError("attribute '" + name +
                                      "' is not supported; store the constant as a tensor in "
                                      "attribute 'value'");
    }
    builder_->DefineConstant(node.outputs[0], std::move(tensor));
    return absl::OkStatus();
  }

  absl::StatusOr<ImportedModel> Finish() {
    std::vector<ir::ValueId> outputs;
    std::vector<std::string> names;
    for (const onnx::ValueInfoProto& output : proto_.graph().output()) {
      const ir::ValueId* value = builder_->Find(output.name());
      if (value == nullptr) return absl::InternalError("output '" + output.name() + "' is lost");
      outputs.push_back(*value);
      names.push_back(output.name());
      if (const auto why = Contradiction(output, builder_->graph().type(*value))) {
        options_.warn(problems_.model() + ": output '" + output.name() + "' " + *why +
                      "; the declaration is ignored");
      }
    }
    ImportedModel imported{
        .graph = builder_->Take(), .opset = opset_, .producer = proto_.producer_name()};
    if (!proto_.producer_version().empty()) imported.producer += " " + proto_.producer_version();
    imported.graph.name = options_.model_name.empty() ? "model" : options_.model_name;
    imported.graph.outputs = std::move(outputs);
    imported.graph.output_names = std::move(names);
    imported.graph.Compact();
    if (const std::optional<std::string> broken = ir::Verify(imported.graph)) {
      return absl::InternalError(problems_.model() + ": the imported graph is broken: " + *broken);
    }
    return imported;
  }

  onnx::ModelProto& proto_;
  const ImportOptions& options_;
  Problems& problems_;
  ExternalData external_;
  int opset_ = 0;
  GraphStructure structure_;
  std::optional<GraphBuilder> builder_;
};

absl::StatusOr<ImportedModel> Import(std::string_view bytes, const std::string& base_folder,
                                     const ImportOptions& options, const std::string& called) {
  Problems problems(called);
  try {
    onnx::ModelProto model;
    if (absl::Status status = ParseModel(bytes, &model); !status.ok()) {
      problems.Add(status);
      return problems.ToStatus();
    }
    return Importer(model, base_folder, options, problems).Run();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(called + ": not enough memory to import the model");
  } catch (const std::exception& error) {
    return absl::InternalError(called + ": " + error.what());
  }
}

}  // namespace

absl::StatusOr<ImportedModel> ImportOnnxFile(const std::string& path,
                                             const ImportOptions& options) {
  absl::StatusOr<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) {
    if (options.model_name.empty()) return file.status();
    return absl::Status(file.status().code(),
                        options.model_name + ": " + std::string(file.status().message()));
  }
  const std::filesystem::path location(path);
  ImportOptions named = options;
  if (named.model_name.empty()) named.model_name = location.stem().string();
  return Import(file->bytes(), location.parent_path().string(), named,
                options.model_name.empty() ? path : options.model_name);
}

absl::StatusOr<ImportedModel> ImportOnnxBytes(std::string_view bytes,
                                              const std::string& base_folder,
                                              const ImportOptions& options) {
  return Import(bytes, base_folder, options,
                options.model_name.empty() ? "model" : options.model_name);
}

}  // namespace poprt::frontend
