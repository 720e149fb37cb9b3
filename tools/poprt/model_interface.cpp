#include "tools/poprt/model_interface.hpp"

#include <onnx/onnx_pb.h>

#include <fstream>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/tensor/element_type.hpp"

namespace poprt::cli {
namespace {

std::string ElementTypeName(int number) {
  if (number < 0 || number > 255 || !IsElementType(static_cast<std::uint8_t>(number))) {
    return "unknown";
  }
  return std::string(ElementName(static_cast<ElementType>(number)));
}

std::string DimensionText(const onnx::TensorShapeProto::Dimension& dimension) {
  if (dimension.has_dim_value()) return absl::StrCat(dimension.dim_value());
  return dimension.has_dim_param() ? dimension.dim_param() : "?";
}

DeclaredTensor Declared(const onnx::ValueInfoProto& info) {
  const onnx::TypeProto::Tensor& type = info.type().tensor_type();
  DeclaredTensor tensor{info.name(), ElementTypeName(type.elem_type()), {}, type.has_shape()};
  for (const auto& dimension : type.shape().dim()) {
    tensor.dimensions.push_back(DimensionText(dimension));
  }
  return tensor;
}

std::string Line(const std::string& role, const DeclaredTensor& tensor) {
  const std::string shape =
      tensor.has_shape ? absl::StrCat("[", absl::StrJoin(tensor.dimensions, ", "), "]") : "unknown";
  return absl::StrCat(role, " ", tensor.name, ": dtype - ", tensor.element_type, ", shape - ",
                      shape, "\n");
}

}  // namespace

absl::StatusOr<ModelInterface> ReadModelInterface(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("there is no readable file '", path, "'"));
  onnx::ModelProto model;
  if (!model.ParseFromIstream(&file) || !model.has_graph()) {
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
  return interface;
}

std::string ToText(const ModelInterface& model) {
  std::string text;
  for (const DeclaredTensor& input : model.inputs) text += Line("Input", input);
  for (const DeclaredTensor& output : model.outputs) text += Line("Output", output);
  return text;
}

}  // namespace poprt::cli
