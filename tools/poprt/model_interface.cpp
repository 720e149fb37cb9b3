#include "tools/poprt/model_interface.hpp"

#include <onnx/onnx_pb.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/frontend/proto/mapped_file.hpp"
#include "compiler/frontend/proto/skim_model.hpp"
#include "runtime/tensor/element_type.hpp"

namespace poprt::cli {
namespace {

std::string ElementTypeName(int number) {
  if (number < 0 || number > 255 || !IsElementType(static_cast<std::uint8_t>(number))) {
    return "unknown";
  }
  return std::string(ElementName(static_cast<ElementType>(number)));
}

Dimension DimensionOf(const onnx::TensorShapeProto::Dimension& dimension) {
  if (dimension.has_dim_value()) return static_cast<std::int64_t>(dimension.dim_value());
  return dimension.has_dim_param() ? dimension.dim_param() : std::string("?");
}

std::string ToText(const Dimension& dimension) {
  const auto* const extent = std::get_if<std::int64_t>(&dimension);
  return extent != nullptr ? std::to_string(*extent) : std::get<std::string>(dimension);
}

void AddExternalFile(const onnx::TensorProto& tensor, std::set<std::string>& files) {
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") files.insert(entry.value());
  }
}

// protobuf bounds how deep subgraphs are nested when it parses them.
// NOLINTNEXTLINE(misc-no-recursion)
void AddExternalFiles(const onnx::GraphProto& graph, std::set<std::string>& files) {
  for (const auto& tensor : graph.initializer()) AddExternalFile(tensor, files);
  for (const auto& tensor : graph.sparse_initializer()) {
    AddExternalFile(tensor.values(), files);
    AddExternalFile(tensor.indices(), files);
  }
  for (const auto& node : graph.node()) {
    for (const auto& attribute : node.attribute()) {
      AddExternalFile(attribute.t(), files);
      for (const auto& tensor : attribute.tensors()) AddExternalFile(tensor, files);
      if (attribute.has_g()) AddExternalFiles(attribute.g(), files);
      for (const auto& subgraph : attribute.graphs()) AddExternalFiles(subgraph, files);
    }
  }
}

DeclaredTensor Declared(const onnx::ValueInfoProto& info) {
  const onnx::TypeProto::Tensor& type = info.type().tensor_type();
  DeclaredTensor tensor{info.name(), ElementTypeName(type.elem_type()), {}, type.has_shape()};
  for (const auto& dimension : type.shape().dim()) {
    tensor.dimensions.push_back(DimensionOf(dimension));
  }
  return tensor;
}

std::string Line(const std::string& role, const DeclaredTensor& tensor) {
  std::vector<std::string> dimensions;
  for (const Dimension& dimension : tensor.dimensions) dimensions.push_back(ToText(dimension));
  const std::string shape =
      tensor.has_shape ? absl::StrCat("[", absl::StrJoin(dimensions, ", "), "]") : "unknown";
  const std::string frozen =
      tensor.frozen_file.empty() ? "" : absl::StrCat(", frozen - ", tensor.frozen_file);
  return absl::StrCat(role, " ", tensor.name, ": dtype - ", tensor.element_type, ", shape - ",
                      shape, frozen, "\n");
}

}  // namespace

absl::StatusOr<ModelInterface> ReadModelInterface(const std::string& path) {
  const absl::StatusOr<frontend::MappedFile> file = frontend::MappedFile::Open(path);
  if (!file.ok()) return file.status();
  onnx::ModelProto model;
  if (!frontend::SkimModel(file->bytes(), &model) || !model.has_graph()) {
    return absl::InvalidArgumentError(absl::StrCat("'", path, "' is no ONNX model"));
  }
  std::set<std::string> constants;
  for (const auto& tensor : model.graph().initializer()) constants.insert(tensor.name());
  for (const auto& tensor : model.graph().sparse_initializer()) {
    constants.insert(tensor.values().name());
  }
  ModelInterface interface;
  for (const auto& info : model.graph().input()) {
    if (!constants.contains(info.name())) interface.inputs.push_back(Declared(info));
  }
  for (const auto& info : model.graph().output()) interface.outputs.push_back(Declared(info));
  AddExternalFiles(model.graph(), interface.external_files);
  return interface;
}

void MarkFrozen(const std::map<std::string, frontend::FrozenInput>& frozen, ModelInterface& model) {
  for (DeclaredTensor& input : model.inputs) {
    const auto found = frozen.find(input.name);
    if (found == frozen.end()) continue;
    input.frozen_file = std::get<frontend::FrozenFile>(found->second).path;
  }
}

std::string ToText(const ModelInterface& model) {
  std::string text;
  for (const DeclaredTensor& input : model.inputs) text += Line("Input", input);
  for (const DeclaredTensor& output : model.outputs) text += Line("Output", output);
  return text;
}

}  // namespace poprt::cli
