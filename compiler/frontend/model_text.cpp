#include "compiler/frontend/model_text.hpp"

#include <google/protobuf/text_format.h>
#include <onnx/onnx_pb.h>

#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"

namespace poprt::frontend {
namespace {

std::string Quoted(const std::string& key, const std::string& value) {
  return absl::StrCat(key, ": \"", value, "\" ");
}

std::string DimsText(const Shape& shape) {
  std::string text;
  for (std::int64_t extent : shape) absl::StrAppend(&text, "dims: ", extent, " ");
  return text;
}

}  // namespace

std::string BytesOfText(const std::string& model) {
  onnx::ModelProto proto;
  if (!google::protobuf::TextFormat::ParseFromString(model, &proto)) {
    throw std::invalid_argument("not the text of a model: " + model);
  }
  return proto.SerializeAsString();
}

std::string ModelBytes(const std::string& graph, int opset) {
  return BytesOfText(absl::StrCat("ir_version: 8 producer_name: \"test\" opset_import { version: ",
                                  opset, " } graph { name: \"g\" ", graph, " }"));
}

absl::StatusOr<ImportedModel> ImportText(const std::string& graph, int opset,
                                         ImportOptions options) {
  if (options.model_name.empty()) options.model_name = "m";
  return ImportOnnxBytes(ModelBytes(graph, opset), "", options);
}

std::string ErrorOf(const absl::StatusOr<ImportedModel>& result) {
  return result.ok() ? "no error" : std::string(result.status().message());
}

std::string TextOf(const absl::StatusOr<ImportedModel>& result) {
  return result.ok() ? ir::ToString(result->graph) : ErrorOf(result);
}

std::string ValuesOf(const absl::StatusOr<ImportedModel>& result, std::size_t output) {
  if (!result.ok()) return ErrorOf(result);
  const Tensor* tensor = result->graph.ConstantOf(result->graph.outputs.at(output));
  if (tensor == nullptr) return "no constant";
  const auto text = [&](const auto& values) {
    std::string line = ToString(tensor->type()) + ":";
    for (const auto value : values) absl::StrAppend(&line, " ", value);
    return line;
  };
  switch (tensor->element()) {
    case ElementType::kFloat32:
      return text(tensor->as<float>());
    case ElementType::kFloat64:
      return text(tensor->as<double>());
    case ElementType::kInt32:
      return text(tensor->as<std::int32_t>());
    case ElementType::kInt64:
      return text(tensor->as<std::int64_t>());
    case ElementType::kBool:
      return text(tensor->as<std::uint8_t>());
    default:
      return "elements of " + ToString(tensor->type());
  }
}

std::string InputText(const std::string& name, const std::vector<std::string>& dimensions,
                      int element) {
  std::string text = absl::StrCat("input { ", Quoted("name", name),
                                  "type { tensor_type { elem_type: ", element, " shape { ");
  for (const std::string& dimension : dimensions) {
    const bool is_number =
        !dimension.empty() && dimension.find_first_not_of("-0123456789") == std::string::npos;
    absl::StrAppend(&text, "dim { ",
                    is_number           ? "dim_value: " + dimension
                    : dimension.empty() ? ""
                                        : Quoted("dim_param", dimension),
                    " } ");
  }
  return text + "} } } } ";
}

std::string OutputText(const std::string& name) {
  return absl::StrCat("output { ", Quoted("name", name), "} ");
}

std::string NodeText(const std::string& op, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, const std::string& rest) {
  std::string text = absl::StrCat("node { ", Quoted("op_type", op));
  for (const std::string& input : inputs) text += Quoted("input", input);
  for (const std::string& output : outputs) text += Quoted("output", output);
  return absl::StrCat(text, rest, " } ");
}

std::string FloatsText(const std::string& name, const std::vector<float>& values,
                       const Shape& shape) {
  std::string text = absl::StrCat("initializer { ", Quoted("name", name), "data_type: 1 ");
  text += DimsText(shape);
  for (float value : values) absl::StrAppend(&text, "float_data: ", value, " ");
  return text + "} ";
}

std::string IntsText(const std::string& name, const std::vector<std::int64_t>& values,
                     const Shape& shape) {
  std::string text = absl::StrCat("initializer { ", Quoted("name", name), "data_type: 7 ");
  text += DimsText(shape);
  for (std::int64_t value : values) absl::StrAppend(&text, "int64_data: ", value, " ");
  return text + "} ";
}

std::string IntAttribute(const std::string& name, std::int64_t value) {
  return absl::StrCat("attribute { ", Quoted("name", name), "type: INT i: ", value, " } ");
}

std::string IntsAttribute(const std::string& name, const std::vector<std::int64_t>& values) {
  std::string text = absl::StrCat("attribute { ", Quoted("name", name), "type: INTS ");
  for (std::int64_t value : values) absl::StrAppend(&text, "ints: ", value, " ");
  return text + "} ";
}

std::string FloatAttribute(const std::string& name, float value) {
  return absl::StrCat("attribute { ", Quoted("name", name), "type: FLOAT f: ", value, " } ");
}

std::string TextAttribute(const std::string& name, const std::string& value) {
  return absl::StrCat("attribute { ", Quoted("name", name), "type: STRING ", Quoted("s", value),
                      "} ");
}

}  // namespace poprt::frontend
