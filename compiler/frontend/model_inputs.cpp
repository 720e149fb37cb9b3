#include "compiler/frontend/model_inputs.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "absl/strings/str_join.h"
#include "compiler/frontend/proto/declared_type.hpp"
#include "compiler/frontend/proto/tensor_proto.hpp"
#include "compiler/ir/nearest_name.hpp"

namespace poprt::frontend {
namespace {

/// Fixes the shape of one input.
class InputResolver {
 public:
  InputResolver(const onnx::ValueInfoProto& input, const ImportOptions& options)
      : name_(input.name()), type_(input.type()), options_(options) {}

  absl::StatusOr<TensorType> Run() {
    if (absl::Status status = CheckKind(); !status.ok()) return status;
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
    for (const DeclaredDimension& dimension : *dimensions_) type.shape.push_back(*dimension.extent);
    const std::optional<std::int64_t> count = CheckedElementCount(type.shape);
    if (!count || *count > std::int64_t{1} << 40) {
      return absl::InvalidArgumentError("has the shape " + ToString(*dimensions_) +
                                        ", which is too large");
    }
    return type;
  }

 private:
  absl::Status CheckKind() const {
    const std::string advice = "give its value with --freeze_input " + name_ + "=FILE";
    switch (type_.value_case()) {
      case onnx::TypeProto::kTensorType:
        if (type_.tensor_type().elem_type() != onnx::TensorProto::STRING) return absl::OkStatus();
        [[fallthrough]];
      case onnx::TypeProto::kSequenceType:
      case onnx::TypeProto::kOptionalType:
        return absl::UnimplementedError("is " + KindOf(type_) +
                                        ", which a compiled model cannot take; " + advice);
      case onnx::TypeProto::VALUE_NOT_SET:
        return absl::InvalidArgumentError(
            "is declared without a type; declare one in the model or " + advice);
      default:
        return absl::UnimplementedError("is " + KindOf(type_) + ", which is not supported");
    }
  }

  absl::Status CheckDeclared() const {
    if (!dimensions_) return absl::OkStatus();
    for (const DeclaredDimension& dimension : *dimensions_) {
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
    DeclaredDimension& dimension = (*dimensions_)[static_cast<std::size_t>(*axis)];
    if (!dimension.extent) dimension.extent = *options_.batch_size;
  }

  absl::Status CheckClosed() const {
    if (!dimensions_) {
      return absl::InvalidArgumentError("has no shape; give one, e.g. --input_shape " + name_ +
                                        "=1,...");
    }
    if (std::all_of(
            dimensions_->begin(), dimensions_->end(),
            [](const DeclaredDimension& dimension) { return dimension.extent.has_value(); })) {
      return absl::OkStatus();
    }
    std::string example = name_ + "=";
    for (const DeclaredDimension& dimension : *dimensions_) {
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
  std::optional<std::vector<DeclaredDimension>> dimensions_;
};

absl::StatusOr<HostValue> ResolveFrozen(const onnx::ValueInfoProto& input,
                                        const FrozenInput& frozen, const ImportOptions& options) {
  const auto* file = std::get_if<FrozenFile>(&frozen);
  absl::StatusOr<HostValue> value =
      file != nullptr ? ReadFrozenFile(file->path, input.type()) : std::get<HostValue>(frozen);
  if (!value.ok()) {
    return absl::Status(value.status().code(),
                        "cannot be frozen: " + std::string(value.status().message()));
  }
  const std::string source = file != nullptr ? "'" + file->path + "' " : "the given value ";
  value = FitTo(*std::move(value), input.type());
  if (!value.ok()) {
    return absl::Status(value.status().code(),
                        "cannot be frozen: " + source + std::string(value.status().message()));
  }
  const auto wanted = options.input_shapes.find(input.name());
  const Tensor* tensor = value->tensor();
  if (wanted != options.input_shapes.end() &&
      (tensor == nullptr || tensor->shape() != wanted->second)) {
    return absl::InvalidArgumentError("cannot be frozen: " + source + "is " + Describe(*value) +
                                      ", but --input_shape asks for " +
                                      poprt::ToString(wanted->second));
  }
  return value;
}

/// Reports names of an option that are those of no input.
class OptionNames {
 public:
  OptionNames(const std::vector<ModelInput>& inputs, const std::set<std::string>& initializers,
              Problems& problems)
      : initializers_(initializers), problems_(problems) {
    for (const ModelInput& input : inputs) known_.push_back(input.name);
  }

  void Check(const std::string& option, const std::string& name) const {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) return;
    std::string message = option + " names '" + name + "', which is ";
    if (initializers_.count(name) > 0) {
      message += "a constant of the model, not an input";
    } else {
      message += "no input of the model";
      const std::optional<std::string> nearest = ir::NearestName(name, known_);
      if (nearest) message += "; did you mean '" + *nearest + "'?";
    }
    message += known_.empty() ? " (it has no inputs)"
                              : " (inputs: '" + absl::StrJoin(known_, "', '") + "')";
    problems_.AddInvalid(message);
  }

 private:
  std::vector<std::string> known_;
  const std::set<std::string>& initializers_;
  Problems& problems_;
};

}  // namespace

std::vector<ModelInput> ResolveInputs(const onnx::GraphProto& graph, const ImportOptions& options,
                                      Problems& problems) {
  std::set<std::string> initializers;
  for (const onnx::TensorProto& tensor : graph.initializer()) initializers.insert(tensor.name());
  for (const onnx::SparseTensorProto& sparse : graph.sparse_initializer()) {
    initializers.insert(sparse.values().name());
  }
  if (options.batch_size && *options.batch_size < 1) {
    problems.AddInvalid("the batch size is " + std::to_string(*options.batch_size) +
                        ", it must be at least 1");
  }
  std::vector<ModelInput> inputs;
  for (const onnx::ValueInfoProto& proto : graph.input()) {
    if (initializers.count(proto.name()) > 0) continue;
    ModelInput input{.name = proto.name(), .type = {}, .frozen = {}};
    const std::string where = "input '" + proto.name() + "' ";
    if (const auto found = options.frozen_inputs.find(proto.name());
        found != options.frozen_inputs.end()) {
      absl::StatusOr<HostValue> value = ResolveFrozen(proto, found->second, options);
      if (value.ok()) {
        input.frozen = *std::move(value);
      } else {
        problems.Add(value.status(), where);
      }
    } else {
      absl::StatusOr<TensorType> type = InputResolver(proto, options).Run();
      if (type.ok()) {
        input.type = *std::move(type);
      } else {
        problems.Add(type.status(), where);
      }
    }
    inputs.push_back(std::move(input));
  }
  const OptionNames names(inputs, initializers, problems);
  for (const auto& [name, shape] : options.input_shapes) names.Check("--input_shape", name);
  for (const auto& [name, value] : options.frozen_inputs) names.Check("--freeze_input", name);
  return inputs;
}

std::optional<std::string> Contradiction(const onnx::ValueInfoProto& declared,
                                         const TensorType& type,
                                         std::optional<std::size_t> open_axis) {
  const std::string text = "is declared as ";
  if (declared.type().value_case() == onnx::TypeProto::VALUE_NOT_SET) return std::nullopt;
  if (!declared.type().has_tensor_type()) return text + KindOf(declared.type());
  const onnx::TypeProto::Tensor& tensor = declared.type().tensor_type();
  const int element = static_cast<int>(type.element);
  bool differs = tensor.elem_type() != 0 && tensor.elem_type() != element;
  std::vector<DeclaredDimension> dimensions;
  if (tensor.has_shape()) {
    dimensions = ReadDimensions(tensor.shape());
    differs = differs || dimensions.size() != type.shape.size();
    for (std::size_t i = 0; !differs && i < dimensions.size(); ++i) {
      differs = i != open_axis && dimensions[i].extent.value_or(type.shape[i]) != type.shape[i];
    }
  }
  if (!differs) return std::nullopt;
  const auto declared_element = ElementTypeFromProto(tensor.elem_type());
  return text + (declared_element.ok() ? std::string(ElementName(*declared_element)) : "unknown") +
         (tensor.has_shape() ? ToString(dimensions) : "") + " but is " + poprt::ToString(type);
}

}  // namespace poprt::frontend
