#include "compiler/emit/onnx_graph_writer.hpp"

#include <onnx/onnx_pb.h>

#include <utility>

namespace poprt::emit {

void WriteValueInfo(const std::string& name, const TensorType& type, onnx::ValueInfoProto* info) {
  info->set_name(name);
  onnx::TypeProto::Tensor* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int>(type.element));
  tensor->mutable_shape();  // a scalar has a shape without dimensions
  for (std::int64_t extent : type.shape) {
    tensor->mutable_shape()->add_dim()->set_dim_value(extent);
  }
}

void OnnxGraphWriter::NameValues(bool share_constants) {
  value_names_.assign(graph_.values().size(), "");
  for (ir::ValueId id : graph_.inputs) {
    value_names_[static_cast<std::size_t>(id)] = graph_.value(id).name;
  }
  for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
    const ir::ValueId id = graph_.outputs[i];
    std::string& name = value_names_[static_cast<std::size_t>(id)];
    if (name.empty() && !graph_.value(id).is_constant()) {
      name = output_names_[i];
    } else if (name != output_names_[i]) {
      copies_.push_back(i);
    }
  }
  for (std::size_t i = 0; i < graph_.values().size(); ++i) {
    const ir::Value& value = graph_.values()[i];
    if (!value_names_[i].empty()) continue;
    if (!value.is_constant()) {
      value_names_[i] = names_.Unique(value.name);
    } else if (share_constants) {
      value_names_[i] = constants_.Share(value.name, *value.constant);
    } else {
      value_names_[i] = names_.Unique(value.name);
      constants_.Write(value_names_[i], *value.constant);
    }
  }
}

std::vector<OnnxValue> OnnxGraphWriter::Values(const std::vector<ir::ValueId>& ids) const {
  std::vector<OnnxValue> values;
  values.reserve(ids.size());
  for (ir::ValueId id : ids) {
    values.push_back(id == ir::kAbsent
                         ? OnnxValue()
                         : OnnxValue{.name = value_names_[static_cast<std::size_t>(id)],
                                     .type = graph_.type(id)});
  }
  return values;
}

void OnnxGraphWriter::Write(OnnxNodeWriter& writer, bool share_constants,
                            std::vector<std::string>& problems) {
  NameValues(share_constants);
  for (const ir::Node& node : graph_.nodes) {
    const absl::Status status = writer.Write({.name = node.name,
                                              .op = node.op,
                                              .inputs = Values(node.inputs),
                                              .outputs = Values(node.outputs),
                                              .attributes = node.attributes});
    if (status.ok()) continue;
    problems.push_back(graph_.name + ": node '" + node.name + "' (" + node.op +
                       ") cannot be written as ONNX of opset " + std::to_string(writer.opset()) +
                       ": " + std::string(status.message()));
  }
  for (std::size_t i : copies_) {
    const OnnxValue value = Values({graph_.outputs[i]})[0];
    const absl::Status status =
        writer.Write({.name = names_.Unique(output_names_[i] + "/Identity"),
                      .op = "Identity",
                      .inputs = {value},
                      .outputs = {{.name = output_names_[i], .type = value.type}},
                      .attributes = {}});
    if (!status.ok()) {
      problems.push_back(graph_.name + ": output '" + output_names_[i] +
                         "' cannot be written: " + std::string(status.message()));
    }
  }
}

}  // namespace poprt::emit
