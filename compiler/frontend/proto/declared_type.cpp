#include "compiler/frontend/proto/declared_type.hpp"

#include <onnx/onnx_pb.h>

#include <utility>

#include "absl/strings/str_join.h"
#include "compiler/frontend/proto/tensor_proto.hpp"

namespace poprt::frontend {
namespace {

std::string DeclaredElement(int element) {
  if (element == 0) return "tensor";
  if (element == onnx::TensorProto::STRING) return "string";
  const auto known = ElementTypeFromProto(element);
  return known.ok() ? std::string(ElementName(*known)) : "unknown";
}

}  // namespace

std::vector<DeclaredDimension> ReadDimensions(const onnx::TensorShapeProto& shape) {
  std::vector<DeclaredDimension> dimensions;
  for (const auto& proto : shape.dim()) {
    DeclaredDimension dimension;
    // Several exporters write -1 for an open dimension.
    if (proto.has_dim_value() && proto.dim_value() != -1) {
      dimension.extent = proto.dim_value();
    } else if (!proto.dim_param().empty()) {
      dimension.name = proto.dim_param();
    }
    dimensions.push_back(std::move(dimension));
  }
  return dimensions;
}

std::string ToString(const std::vector<DeclaredDimension>& dimensions) {
  return "[" +
         absl::StrJoin(dimensions, ", ",
                       [](std::string* out, const DeclaredDimension& dimension) {
                         *out +=
                             dimension.extent ? std::to_string(*dimension.extent) : dimension.name;
                       }) +
         "]";
}

std::string KindOf(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kSequenceType:
      return "a sequence";
    case onnx::TypeProto::kMapType:
      return "a map";
    case onnx::TypeProto::kOptionalType:
      return "an optional";
    case onnx::TypeProto::kSparseTensorType:
      return "a sparse tensor";
    case onnx::TypeProto::kOpaqueType:
      return "opaque";
    case onnx::TypeProto::kTensorType:
      return type.tensor_type().elem_type() == onnx::TensorProto::STRING ? "a tensor of strings"
                                                                         : "a tensor";
    case onnx::TypeProto::VALUE_NOT_SET:
      break;
  }
  return "declared without a type";
}

std::string DeclaredType(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType: {
      const auto& tensor = type.tensor_type();
      return DeclaredElement(tensor.elem_type()) +
             (tensor.has_shape() ? ToString(ReadDimensions(tensor.shape())) : "");
    }
    case onnx::TypeProto::kSequenceType:
      return "a sequence of " + DeclaredType(type.sequence_type().elem_type());
    case onnx::TypeProto::kOptionalType:
      return "an optional " + DeclaredType(type.optional_type().elem_type());
    default:
      return KindOf(type);
  }
}

}  // namespace poprt::frontend
