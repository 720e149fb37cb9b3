#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/import.hpp"

namespace poprt::frontend {

/// The bytes of a model given in ONNX's text format for graphs (an onnx.GraphProto in protobuf's
/// text format), of that opset and IR version 8.
std::string ModelBytes(const std::string& graph, int opset = 17);

/// As ModelBytes for a whole onnx.ModelProto.
std::string BytesOfText(const std::string& model);

/// Imports under the name "m", collecting what the importer warns of.
absl::StatusOr<ImportedModel> ImportText(const std::string& graph, int opset = 17,
                                         ImportOptions options = {});

/// The message of the error, or "no error".
std::string ErrorOf(const absl::StatusOr<ImportedModel>& result);

/// ir::ToString of the imported graph, or the error.
std::string TextOf(const absl::StatusOr<ImportedModel>& result);

/// An output that importing has computed: "float32[2]: 1 0.5"; the error if there is one.
std::string ValuesOf(const absl::StatusOr<ImportedModel>& result, std::size_t output = 0);

/// "input { name: ... }" and so on, for the text of a graph.
std::string InputText(const std::string& name, const std::vector<std::string>& dimensions,
                      int element = 1);
std::string OutputText(const std::string& name);
std::string NodeText(const std::string& op, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, const std::string& rest = "");
std::string FloatsText(const std::string& name, const std::vector<float>& values,
                       const Shape& shape);
std::string IntsText(const std::string& name, const std::vector<std::int64_t>& values,
                     const Shape& shape);
/// An attribute of a node.
std::string IntAttribute(const std::string& name, std::int64_t value);
std::string IntsAttribute(const std::string& name, const std::vector<std::int64_t>& values);
std::string FloatAttribute(const std::string& name, float value);
std::string TextAttribute(const std::string& name, const std::string& value);

}  // namespace poprt::frontend
