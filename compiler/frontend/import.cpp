#include "compiler/frontend/import.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "compiler/frontend/define_value.hpp"
#include "compiler/frontend/graph_builder.hpp"
#include "compiler/frontend/graph_importer.hpp"
#include "compiler/frontend/graph_outputs.hpp"
#include "compiler/frontend/graph_structure.hpp"
#include "compiler/frontend/inline_functions.hpp"
#include "compiler/frontend/model_file.hpp"
#include "compiler/frontend/model_inputs.hpp"
#include "compiler/frontend/problems.hpp"
#include "compiler/frontend/proto/external_data.hpp"
#include "compiler/frontend/proto/mapped_file.hpp"
#include "compiler/frontend/proto/value_proto.hpp"
#include "compiler/frontend/supported_operators.hpp"
#include "compiler/frontend/unknown_attributes.hpp"

namespace poprt::frontend {
namespace {

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
    const bool has_opsets = problems_.empty();
    opsets_ = NodeOpsets(std::move(header.opsets));
    InlineFunctions(proto_, opsets_, problems_);
    if (has_opsets && !problems_.empty()) return problems_.ToStatus();
    structure_ = CheckStructure(proto_.graph(), problems_);
    const bool is_broken = !problems_.empty();
    const std::vector<ModelInput> inputs = ResolveInputs(proto_.graph(), options_, problems_);
    if (is_broken) {
      // With names that mean nothing, types and shapes would be noise.
      if (has_opsets) ReportUnsupported();
      return problems_.ToStatus();
    }
    ReportDomains(proto_.graph(), structure_.live, opsets_, problems_);
    builder_.emplace(structure_.used, options_.max_tensor_size);
    builder_->set_warn(
        [this](const std::string& message) { options_.warn(problems_.model() + ": " + message); });
    ReserveNames();
    for (const ModelInput& input : inputs) {
      if (input.type) builder_->AddInput(input.name, *input.type);
      if (input.frozen) {
        DefineValue(input.name, *input.frozen, *builder_);
        frozen_inputs_.emplace_back(input.name, Describe(*input.frozen));
      }
    }
    std::sort(frozen_inputs_.begin(), frozen_inputs_.end());
    WarnOfUnusedBatchSize(inputs);
    ImportInitializers();
    importer_.ImportNodes(proto_.graph(), structure_, *builder_, problems_);
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
      if (!input.type && !input.frozen) return;
      if (!input.type) continue;
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
    for (onnx::TensorProto& initializer : *graph.mutable_initializer()) {
      if (!builder_->IsUsed(initializer.name())) continue;
      const absl::StatusOr<HostValue> value = ValueFromProto(initializer, &external_);
      // Weights are most of a model; holding them twice would double the memory.
      if (initializer.has_raw_data()) {
        const std::unique_ptr<std::string> freed(initializer.release_raw_data());
      }
      DefineInitializer(initializer.name(), value);
    }
    for (const onnx::SparseTensorProto& sparse : graph.sparse_initializer()) {
      const std::string& name = sparse.values().name();
      if (builder_->IsUsed(name)) DefineInitializer(name, ValueFromProto(sparse, &external_));
    }
  }

  void DefineInitializer(const std::string& name, const absl::StatusOr<HostValue>& value) {
    if (value.ok()) {
      DefineValue(name, *value, *builder_);
    } else {
      problems_.Add(value.status(), "initializer '" + name + "' ");
    }
  }

  /// For when the graph cannot be built: what would be left when its names are mended.
  void ReportUnsupported() {
    ReportDomains(proto_.graph(), {}, opsets_, problems_);
    for (int i = 0; i < proto_.graph().node_size(); ++i) {
      const onnx::NodeProto& node = proto_.graph().node(i);
      if (HasForeignDomain(node, opsets_)) continue;
      const std::string why = WhyUnsupported(node);
      const absl::Status status =
          why.empty() ? CheckAttributeNames(node) : absl::UnimplementedError(why);
      if (!status.ok()) problems_.Add(status, importer_.Where(node, nullptr));
    }
  }

  /// Of the default domain.
  int ModelOpset() const {
    const auto found = opsets_.model().find("");
    return found == opsets_.model().end() ? 0 : found->second;
  }

  void WarnOfContradiction(const onnx::ValueInfoProto& output, ir::ValueId value) const {
    const OpenExtent* open = builder_->FindOpen(value);
    const auto open_axis = open == nullptr ? std::nullopt : std::optional(open->axis);
    if (const auto why = Contradiction(output, builder_->graph().type(value), open_axis)) {
      options_.warn(problems_.model() + ": output '" + output.name() + "' " + *why +
                    "; the declaration is ignored");
    }
  }

  /// Elements of sequences may be called like other outputs.
  absl::Status CheckNames(const GraphOutputs& outputs) {
    std::set<std::string> seen;
    for (const std::string& name : outputs.names) {
      if (!seen.insert(name).second) {
        problems_.AddInvalid("two outputs would be called '" + name +
                             "', one of them an element of a sequence; rename the other");
      }
    }
    return problems_.ToStatus();
  }

  absl::StatusOr<ImportedModel> Finish() {
    GraphOutputs outputs;
    for (const onnx::ValueInfoProto& output : proto_.graph().output()) {
      const ImportValue* value = builder_->FindValue(output.name());
      if (value == nullptr) return absl::InternalError("output '" + output.name() + "' is lost");
      outputs.Add(output.name(), *value);
      if (value->tensor() != nullptr) WarnOfContradiction(output, *value->tensor());
    }
    if (absl::Status status = CheckNames(outputs); !status.ok()) return status;
    std::vector<ir::OutputExtent> extents;
    for (std::size_t i = 0; i < outputs.values.size(); ++i) {
      const OpenExtent* open = builder_->FindOpen(outputs.values[i]);
      if (open != nullptr) extents.push_back({i, open->axis, open->count});
    }
    ImportedModel imported{
        .graph = builder_->Take(), .opset = ModelOpset(), .producer = proto_.producer_name()};
    if (!proto_.producer_version().empty()) imported.producer += " " + proto_.producer_version();
    imported.graph.name = options_.model_name.empty() ? "model" : options_.model_name;
    imported.graph.outputs = std::move(outputs.values);
    imported.graph.output_names = std::move(outputs.names);
    imported.host_outputs = std::move(outputs.host);
    imported.frozen_inputs = std::move(frozen_inputs_);
    imported.graph.extents = std::move(extents);
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
  NodeOpsets opsets_;
  GraphImporter importer_{opsets_, external_};
  GraphStructure structure_;
  std::optional<GraphBuilder> builder_;
  std::vector<std::pair<std::string, std::string>> frozen_inputs_;
};

/// `parsed` is called once `bytes` are not needed any more.
template <typename Parsed>
absl::StatusOr<ImportedModel> Import(std::string_view bytes, const Parsed& parsed,
                                     const std::string& base_folder, const ImportOptions& options,
                                     const std::string& called) {
  Problems problems(called);
  try {
    onnx::ModelProto model;
    if (absl::Status status = ParseModel(bytes, &model); !status.ok()) {
      problems.Add(status);
      return problems.ToStatus();
    }
    parsed();
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
  std::optional<MappedFile> mapped(*std::move(file));
  const auto unmap = [&] { mapped.reset(); };  // its pages count as memory in use
  return Import(mapped->bytes(), unmap, location.parent_path().string(), named,
                options.model_name.empty() ? path : options.model_name);
}

absl::StatusOr<ImportedModel> ImportOnnxBytes(std::string_view bytes,
                                              const std::string& base_folder,
                                              const ImportOptions& options) {
  return Import(
      bytes, [] {}, base_folder, options,
      options.model_name.empty() ? "model" : options.model_name);
}

}  // namespace poprt::frontend
