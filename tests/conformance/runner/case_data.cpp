#include "tests/conformance/runner/case_data.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>
#include <utility>

#include "absl/status/status.h"

namespace poprt::conformance {
namespace {

absl::StatusOr<onnx::ModelProto> ReadModel(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  onnx::ModelProto model;
  if (!model.ParseFromIstream(&file)) return absl::InvalidArgumentError(path + " is no ONNX model");
  return model;
}

void CollectOperators(const onnx::GraphProto& graph, std::set<std::string>& names) {
  for (const onnx::NodeProto& node : graph.node()) {
    const bool is_default = node.domain().empty() || node.domain() == "ai.onnx";
    names.insert(is_default ? node.op_type() : node.domain() + "." + node.op_type());
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) CollectOperators(attribute.g(), names);
      for (const onnx::GraphProto& body : attribute.graphs()) CollectOperators(body, names);
    }
  }
}

CaseInput Describe(const onnx::ValueInfoProto& input) {
  const onnx::TypeProto::Tensor& type = input.type().tensor_type();
  const bool is_tensor =
      input.type().has_tensor_type() && type.elem_type() != onnx::TensorProto::STRING;
  const bool is_vector = type.has_shape() && type.shape().dim_size() < 2;
  const auto& dimensions = type.shape().dim();
  const bool is_open =
      !type.has_shape() || std::any_of(dimensions.begin(), dimensions.end(),
                                       [](const auto& d) { return !d.has_dim_value(); });
  return {.name = input.name(),
          .may_freeze = !is_tensor || is_vector,
          .must_freeze = !is_tensor,
          .is_open = is_tensor && is_open};
}

/// Extents that are open are 1.
Shape ShapeOf(const onnx::ValueInfoProto& input) {
  Shape shape;
  for (const auto& dimension : input.type().tensor_type().shape().dim()) {
    shape.push_back(dimension.has_dim_value() ? dimension.dim_value() : 1);
  }
  return shape;
}

/// i / n for element i of n.
Tensor Ramp(Shape shape) {
  Tensor tensor({ElementType::kFloat32, std::move(shape)});
  const auto elements = tensor.as_mutable<float>();
  const auto count = static_cast<double>(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = static_cast<float>(static_cast<double>(i) / count);
  }
  return tensor;
}

/// The suite is written by NumPy, which has no bfloat16: its values are stored as uint16.
frontend::HostValue WithDeclaredType(frontend::HostValue value, const onnx::TypeProto& type) {
  const Tensor* tensor = value.tensor();
  if (tensor == nullptr || tensor->element() != ElementType::kUint16 ||
      type.tensor_type().elem_type() != onnx::TensorProto::BFLOAT16) {
    return value;
  }
  return {tensor->WithType({ElementType::kBFloat16, tensor->shape()})};
}

using ValueInfos = std::vector<const onnx::ValueInfoProto*>;

absl::StatusOr<HostValues> ReadValues(const std::vector<std::string>& files,
                                      const ValueInfos& infos) {
  if (files.size() > infos.size()) {
    return absl::InvalidArgumentError("there are more stored values than inputs or outputs");
  }
  HostValues values;
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto value = frontend::ReadFrozenFile(files[i], infos[i]->type());
    if (!value.ok()) return value.status();
    const onnx::TypeProto& type = infos[i]->type();
    auto fitting = frontend::FitTo(WithDeclaredType(*std::move(value), type), type);
    if (!fitting.ok()) return fitting.status();
    values.emplace(infos[i]->name(), *std::move(fitting));
  }
  return values;
}

absl::Status AddTensors(const std::string& name, const frontend::HostValue& value,
                        std::map<std::string, Tensor>& tensors) {
  if (value.strings() != nullptr) {
    return absl::UnimplementedError("'" + name +
                                    "' holds strings, which exist when importing only");
  }
  if (const Tensor* tensor = value.tensor()) tensors.emplace(name, *tensor);
  if (const auto* optional = value.optional(); optional != nullptr && !optional->element.empty()) {
    return AddTensors(name, optional->element.front(), tensors);
  }
  if (const auto* sequence = value.sequence()) {
    for (std::size_t i = 0; i < sequence->elements.size(); ++i) {
      const absl::Status status =
          AddTensors(name + "/" + std::to_string(i), sequence->elements[i], tensors);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CaseData> ReadCase(const Case& source) {
  const absl::StatusOr<onnx::ModelProto> model = ReadModel(source.model);
  if (!model.ok()) return model.status();
  const onnx::GraphProto& graph = model->graph();
  CaseData data{
      .name = source.name, .path = source.model, .inputs = {}, .operators = {}, .data = {}};
  std::set<std::string> operators;
  CollectOperators(graph, operators);
  data.operators.assign(operators.begin(), operators.end());

  std::set<std::string> initializers;
  for (const auto& tensor : graph.initializer()) initializers.insert(tensor.name());
  ValueInfos inputs;
  for (const auto& input : graph.input()) {
    if (initializers.count(input.name()) == 0) inputs.push_back(&input);
  }
  ValueInfos outputs;
  for (const auto& output : graph.output()) outputs.push_back(&output);
  for (const auto* input : inputs) data.inputs.push_back(Describe(*input));

  for (const DataSet& set : source.data) {
    // Stored inputs are those of the graph; older files store initializers that are inputs, too.
    ValueInfos stored;
    for (const auto& input : graph.input()) stored.push_back(&input);
    const bool has_initializers = set.inputs.size() > inputs.size();
    auto in = ReadValues(set.inputs, has_initializers ? stored : inputs);
    auto out = ReadValues(set.outputs, outputs);
    if (!in.ok()) return in.status();
    if (!out.ok()) return out.status();
    for (const std::string& name : initializers) in->erase(name);
    if (set.inputs.empty()) {
      for (const auto* input : inputs) {
        in->emplace(input->name(), frontend::HostValue{Ramp(ShapeOf(*input))});
      }
    }
    data.data.push_back({.inputs = *std::move(in), .outputs = *std::move(out)});
  }
  if (data.data.empty()) return absl::NotFoundError("there are no stored values");
  return data;
}

absl::StatusOr<std::map<std::string, Tensor>> TensorsOf(const HostValues& values) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, value] : values) {
    const absl::Status status = AddTensors(name, value, tensors);
    if (!status.ok()) return status;
  }
  return tensors;
}

}  // namespace poprt::conformance
