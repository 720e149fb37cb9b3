#include "compiler/emit/onnx_graph_writer.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/ir/control_flow.hpp"
#include "compiler/ir/placement.hpp"
#include "compiler/ops/op.hpp"

namespace poprt::emit {
namespace {

/// Gives what is written for a node while this lives the node's placement, which no operator's
/// schema has.
class PlacedNodes {
 public:
  PlacedNodes(const ir::Node& node, onnx::GraphProto& scope)
      : attributes_(node.attributes), scope_(scope), first_(scope.node_size()) {}
  ~PlacedNodes() {
    for (const std::string_view name : {ir::kIpuNumber, ir::kPipelineStage}) {
      if (!attributes_.has(name)) continue;
      for (int i = first_; i < scope_.node_size(); ++i) {
        onnx::AttributeProto* attribute = scope_.mutable_node(i)->add_attribute();
        attribute->set_name(std::string(name));
        attribute->set_type(onnx::AttributeProto::INT);
        attribute->set_i(attributes_.get_int(name, 0));
      }
    }
  }
  PlacedNodes(const PlacedNodes&) = delete;
  PlacedNodes& operator=(const PlacedNodes&) = delete;

 private:
  const Attributes& attributes_;
  onnx::GraphProto& scope_;
  int first_;
};

Attributes WithoutPlacement(Attributes attributes) {
  attributes.erase(ir::kIpuNumber);
  attributes.erase(ir::kPipelineStage);
  return attributes;
}

}  // namespace

void WriteValueInfo(const std::string& name, const TensorType& type, onnx::ValueInfoProto* info) {
  info->set_name(name);
  onnx::TypeProto::Tensor* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int>(type.element));
  tensor->mutable_shape();  // a scalar has a shape without dimensions
  for (std::int64_t extent : type.shape) {
    tensor->mutable_shape()->add_dim()->set_dim_value(extent);
  }
}

void WriteOutputInfo(const ir::Graph& graph, std::size_t i, const std::string& name,
                     onnx::ValueInfoProto* info) {
  WriteValueInfo(name, graph.type(graph.outputs[i]), info);
  for (const ir::OutputExtent& extent : graph.extents) {
    if (extent.output != i) continue;
    onnx::TensorShapeProto* shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->mutable_dim(static_cast<int>(extent.axis))->set_dim_param(name + "/extent");
  }
}

void OnnxGraphWriter::NameValues(bool share_constants) {
  value_names_.assign(graph_.values().size(), "");
  for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
    value_names_[static_cast<std::size_t>(graph_.inputs[i])] = input_names_[i];
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

absl::Status OnnxGraphWriter::WriteNode(const ir::Node& node, const ir::Uses& uses,
                                        OnnxNodeWriter& writer) {
  if (const ops::OpDef* def = ops::FindOp(node.op); def != nullptr && def->open != nullptr) {
    const ir::ValueId count = node.outputs.back();
    const bool needs_count =
        !uses.consumers(count).empty() ||
        std::find(graph_.outputs.begin(), graph_.outputs.end(), count) != graph_.outputs.end();
    return WriteOpen(node, *def, needs_count, writer);
  }
  return writer.Write({.name = node.name,
                       .op = node.op,
                       .inputs = Values(node.inputs),
                       .outputs = Values(node.outputs),
                       .attributes = WithoutPlacement(node.attributes)});
}

absl::Status OnnxGraphWriter::WriteOpen(const ir::Node& node, const ops::OpDef& def,
                                        bool needs_count, OnnxNodeWriter& writer) {
  std::vector<OnnxValue> outputs = Values(node.outputs);
  const OnnxValue count = std::move(outputs.back());
  outputs.pop_back();
  absl::Status status = writer.Write({.name = node.name,
                                      .op = node.op,
                                      .inputs = Values(node.inputs),
                                      .outputs = outputs,
                                      .attributes = WithoutPlacement(node.attributes)});
  if (!status.ok() || !needs_count) return status;
  ops::InferenceCall call{
      .op = node.op, .inputs = {}, .attributes = node.attributes, .outputs = node.outputs.size()};
  for (const OnnxValue& input : Values(node.inputs)) call.inputs.push_back(input.type);
  const ops::OpenOutput open = def.open(call).front();
  const OnnxValue& counted = outputs[open.output];
  const auto rank = static_cast<std::int64_t>(counted.type.shape.size());
  const OnnxValue shape = writer.Emit(node.name + "/Shape", "Shape", {counted},
                                      {ElementType::kInt64, {rank}}, {}, status);
  const auto axis = static_cast<std::int64_t>(open.axis);
  const OnnxValue index = writer.Constant(
      node.name + "/axis", Tensor::Of<std::int64_t>(ElementType::kInt64, {}, Ints{axis}));
  status.Update(writer.Write({.name = names_.Unique(node.name + "/Gather"),
                              .op = "Gather",
                              .inputs = {shape, index},
                              .outputs = {count},
                              .attributes = {}}));
  return status;
}

void OnnxGraphWriter::WriteRegions(const ir::Node& node, OnnxNodeWriter& writer,
                                   bool share_constants, std::vector<std::string>& problems) {
  const std::size_t first_captured = ir::FirstCaptured(node);
  const std::vector<OnnxValue> inputs = Values(node.inputs);
  onnx::NodeProto* proto = writer.scope()->add_node();
  proto->set_name(node.name);
  proto->set_op_type(node.op);
  for (std::size_t i = 0; i < first_captured; ++i) proto->add_input(inputs[i].name);
  for (const OnnxValue& output : Values(node.outputs)) proto->add_output(output.name);
  for (std::size_t r = 0; r < node.regions.size(); ++r) {
    const ir::Graph& region = node.regions[r];
    onnx::AttributeProto* attribute = proto->add_attribute();
    attribute->set_name(ir::RegionAttribute(node, r));
    attribute->set_type(onnx::AttributeProto::GRAPH);
    onnx::GraphProto* scope = attribute->mutable_g();
    scope->set_name(node.name + "/" + attribute->name());
    const std::size_t own =
        region.inputs.size() - (node.inputs.size() - first_captured);  // not captured
    std::vector<std::string> input_names;
    for (std::size_t i = 0; i < own; ++i) {
      const ir::ValueId id = region.inputs[i];
      input_names.push_back(names_.Unique(node.name + "/" + region.value(id).name));
      WriteValueInfo(input_names.back(), region.type(id), scope->add_input());
    }
    for (std::size_t i = first_captured; i < inputs.size(); ++i) {
      input_names.push_back(inputs[i].name);
    }
    std::vector<std::string> output_names;
    for (std::size_t i = 0; i < region.outputs.size(); ++i) {
      output_names.push_back(names_.Unique(node.name + "/" + region.output_names[i]));
      WriteOutputInfo(region, i, output_names.back(), scope->add_output());
    }
    OnnxNodeWriter inner = writer.InScope(scope);
    OnnxGraphWriter(region, std::move(input_names), std::move(output_names), names_, constants_)
        .Write(inner, share_constants, problems);
  }
}

void OnnxGraphWriter::Write(OnnxNodeWriter& writer, bool share_constants,
                            std::vector<std::string>& problems) {
  NameValues(share_constants);
  const ir::Uses uses(graph_);
  for (const ir::Node& node : graph_.nodes) {
    const PlacedNodes placed(node, *writer.scope());
    if (!node.regions.empty()) {
      WriteRegions(node, writer, share_constants, problems);
      continue;
    }
    const absl::Status status = WriteNode(node, uses, writer);
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
