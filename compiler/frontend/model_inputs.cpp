#include "compiler/frontend/model_inputs.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "absl/strings/str_join.h"
#include "compiler/frontend/tensor_proto.hpp"
#include "compiler/ir/nearest_name.hpp"

namespace poprt::frontend {
namespace {

/// A dimension as declared: its extent, or what the model calls it.
struct Dimension {
  std::optional<std::int64_t> extent;
  std::string name = "?";
};

std::string ToString(const std::vector<Dimension>& dimensions) {
  return "[" +
         absl::StrJoin(dimensions, ", ",
                       [](std::string* out, const Dimension& dimension) {
                         *out +=
                             dimension.extent ? std::to_string(*dimension.extent) : dimension.name;
                       }) +
         "]";
}

std::vector<Dimension> ReadDimensions(const onnx::TensorShapeProto& shape) {
  std::vector<Dimension> dimensions;
  for (const auto& proto : shape.dim()) {
    Dimension dimension;
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
      return "a tensor";
    case onnx::TypeProto::VALUE_NOT_SET:
      break;
  }
  return "declared without a type";
}

/// Fixes the shape of one input.
class InputResolver {
 public:
  InputResolver(const onnx::ValueInfoProto& input, const ImportOptions& options)
      : name_(input.name()), type_(input.type()), options_(options) {}

  absl::StatusOr<TensorType> Run() {
    if (!type_.has_tensor_type()) {
      return absl::UnimplementedError("is " + KindOf(type_) + ", only tensors are supported");
    }
    const absl::StatusOr<ElementType> element =
        ElementTypeFromProto(type_.tensor_type().elem_type());
    if (!element.ok())
      return absl::Status(element.status().code(),
                          "has " + std::string(element.status().message()));
    if (type_.tensor_type().has_shape()) {
      dimensions_ = ReadDimensions(type_.tensor_type().shape());
    }
    if (absl::Status status = CheckDeclared(); !status.ok()) return status;
    if (absl::Status status = ApplyInputShape(); !status.ok()) return status;
    ApplyBatchSize();
    if (absl::Status status = CheckClosed(); !status.ok()) return status;
    TensorType type{*element, {}};
    for (const Dimension& dimension : *dimensions_) type.shape.push_back(*dimension.extent);
    const std::optional<std::int64_t> count = CheckedElementCount(type.shape);
    if (!count || *count > std::int64_t{1} << 40) {
      return absl::InvalidArgumentError("has the shape " + ToString(*dimensions_) +
                                        ", which is too large");
    }
    return type;
  }

 private:
  absl::Status CheckDeclared() const {
    if (!dimensions_) return absl::OkStatus();
    for (const Dimension& dimension : *dimensions_) {
      if (dimension.extent.value_or(0) < 0) {
        return absl::InvalidArgumentError("has the shape " + ToString(*dimensions_) +
                                          " with a negative dimension");
      }
    }
    return absl::OkStatus();
  }

  absl::Status ApplyInputShape() {
    const auto found = options_.input_shapes.find(name_);
    if (found == options_.input_shapes.end()) return absl::OkStatus();
    const Shape& wanted = found->second;
    const std::string asked = "--input_shape asks for " + poprt::ToString(wanted);
    if (std::any_of(wanted.begin(), wanted.end(), [](std::int64_t extent) { return extent < 0; })) {
      return absl::InvalidArgumentError(asked + ", dimensions must not be negative");
    }
    if (!dimensions_) dimensions_.emplace(wanted.size());
    if (dimensions_->size() != wanted.size()) {
      return absl::InvalidArgumentError(asked + ", but the model has " +
                                        std::to_string(dimensions_->size()) +
                                        " dimensions: " + ToString(*dimensions_));
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if ((*dimensions_)[i].extent.value_or(wanted[i]) != wanted[i]) {
        return absl::InvalidArgumentError(asked + ", but the model fixes dimension " +
                                          std::to_string(i) + ": " + ToString(*dimensions_));
      }
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) (*dimensions_)[i].extent = wanted[i];
    return absl::OkStatus();
  }

  void ApplyBatchSize() {
    if (!options_.batch_size || !dimensions_) return;
    const auto axis = NormalizeAxis(options_.batch_axis, dimensions_->size());
    if (!axis) return;
    Dimension& dimension = (*dimensions_)[static_cast<std::size_t>(*axis)];
    if (!dimension.extent) dimension.extent = *options_.batch_size;
  }

  absl::Status CheckClosed() const {
    if (!dimensions_) {
      return absl::InvalidArgumentError("has no shape; give one, e.g. --input_shape " + name_ +
                                        "=1,...");
    }
    if (std::all_of(dimensions_->begin(), dimensions_->end(),
                    [](const Dimension& dimension) { return dimension.extent.has_value(); })) {
      return absl::OkStatus();
    }
    std::string example = name_ + "=";
    for (const Dimension& dimension : *dimensions_) {
      if (example.back() != '=') example += ',';
      example += std::to_string(dimension.extent.value_or(1));
    }
    return absl::InvalidArgumentError("has the shape " + ToString(*dimensions_) +
                                      " with open dimensions; fix them, e.g. --input_shape " +
                                      example);
  }

  const std::string& name_;
  const onnx::TypeProto& type_;
  const ImportOptions& options_;
  std::optional<std::vector<Dimension>> dimensions_;
};

void CheckOptionNames(const std::vector<ModelInput>& inputs,
                      const std::set<std::string>& initializers, const ImportOptions& options,
                      Problems& problems) {
  std::vector<std::string> known;
  known.reserve(inputs.size());
  for (const ModelInput& input : inputs) known.push_back(input.name);
  for (const auto& [name, shape] : options.input_shapes) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string message = "--input_shape names '" + name + "', which is ";
    if (initializers.count(name) > 0) {
      message += "a constant of the model, not an input";
    } else {
      message += "no input of the model";
      const std::optional<std::string> nearest = ir::NearestName(name, known);
      if (nearest) message += "; did you mean '" + *nearest + "'?";
    }
    message +=
        known.empty() ? " (it has no inputs)" : " (inputs: '" + absl::StrJoin(known, "', '") + "')";
    problems.AddInvalid(message);
  }
}

}  // namespace

std::vector<ModelInput> ResolveInputs(const onnx::GraphProto& graph, const ImportOptions& options,
                                      Problems& problems) {
  std::set<std::string> initializers;
  for (const onnx::TensorProto& tensor : graph.initializer()) initializers.insert(tensor.name());
  if (options.batch_size && *options.batch_size < 1) {
    problems.AddInvalid("the batch size is " + std::to_string(*options.batch_size) +
                        ", it must be at least 1");
  }
  std::vector<ModelInput> inputs;
  for (const onnx::ValueInfoProto& proto : graph.input()) {
    if (initializers.count(proto.name()) > 0) continue;
    ModelInput input{.name = proto.name(), .type = {}};
    absl::StatusOr<TensorType> type = InputResolver(proto, options).Run();
    if (type.ok()) {
      input.type = *std::move(type);
    } else {
      problems.Add(type.status(), "input '" + proto.name() + "' ");
    }
    inputs.push_back(std::move(input));
  }
  CheckOptionNames(inputs, initializers, options, problems);
  return inputs;
}

std::optional<std::string> Contradiction(const onnx::ValueInfoProto& declared,
                                         const TensorType& type) {
  const std::string text = "is declared as ";
  if (declared.type().value_case() == onnx::TypeProto::VALUE_NOT_SET) return std::nullopt;
  if (!declared.type().has_tensor_type()) return text + KindOf(declared.type());
  const onnx::TypeProto::Tensor& tensor = declared.type().tensor_type();
  const int element = static_cast<int>(type.element);
  bool differs = tensor.elem_type() != 0 && tensor.elem_type() != element;
  std::vector<Dimension> dimensions;
  if (tensor.has_shape()) {
    dimensions = ReadDimensions(tensor.shape());
    differs = differs || dimensions.size() != type.shape.size();
    for (std::size_t i = 0; !differs && i < dimensions.size(); ++i) {
      differs = dimensions[i].extent.value_or(type.shape[i]) != type.shape[i];
    }
  }
  if (!differs) return std::nullopt;
  const auto declared_element = ElementTypeFromProto(tensor.elem_type());
  return text + (declared_element.ok() ? std::string(ElementName(*declared_element)) : "unknown") +
         (tensor.has_shape() ? ToString(dimensions) : "") + " but is " + poprt::ToString(type);
}

}  // namespace poprt::frontend
