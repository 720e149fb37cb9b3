#include "compiler/emit/onnx_node.hpp"

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "compiler/emit/onnx_downgrade.hpp"
#include "compiler/emit/onnx_export.hpp"
#include "compiler/frontend/proto/tensor_proto.hpp"
#include "compiler/ops/op.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::emit {
namespace {

/// Attributes of newer forms that older ones lack, with the value that changes nothing.
const std::vector<Attributes::Entry>& HarmlessAttributes() {
  static const std::vector<Attributes::Entry> entries = {
      {"allowzero", std::int64_t{0}},     {"antialias", std::int64_t{0}},
      {"batch_dims", std::int64_t{0}},    {"noop_with_empty_axes", std::int64_t{0}},
      {"reduction", std::string("none")}, {"select_last_index", std::int64_t{0}},
      {"start", std::int64_t{0}},         {"training_mode", std::int64_t{0}},
  };
  return entries;
}

bool IsHarmless(const Attributes::Entry& entry) {
  const auto& harmless = HarmlessAttributes();
  if (std::find(harmless.begin(), harmless.end(), entry) != harmless.end()) return true;
  const auto* dilations = std::get_if<Ints>(&entry.second);
  return entry.first == "dilations" && dilations != nullptr &&
         std::all_of(dilations->begin(), dilations->end(), [](auto d) { return d == 1; });
}

/// Static inputs that ONNX wants as scalars.
bool IsScalar(std::string_view op, std::string_view attribute) {
  return op == "Range" || ((op == "CumSum" || op == "CumProd") && attribute == "axis") ||
         (op == "OneHot" && attribute == "depth") || (op == "Trilu" && attribute == "k") ||
         op == "DFT" || op == "STFT" || op == "MelWeightMatrix" || attribute == "size";
}

template <typename T, typename Values>
Tensor TensorOf(ElementType element, Shape shape, const Values& values) {
  Tensor tensor({element, std::move(shape)});
  std::transform(values.begin(), values.end(), tensor.as_mutable<T>().begin(),
                 [](auto value) { return static_cast<T>(value); });
  return tensor;
}

/// The tensor of a static input; of int64 or float32 unless the node keeps another type.
std::optional<Tensor> StaticTensor(const AttributeValue& value, bool is_scalar,
                                   std::optional<ElementType> wanted) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return *tensor;
  if (const auto* ints = std::get_if<Ints>(&value)) {
    const Shape shape = is_scalar ? Shape() : Shape{static_cast<std::int64_t>(ints->size())};
    if (is_scalar && ints->size() != 1) return std::nullopt;
    switch (wanted.value_or(ElementType::kInt64)) {
      case ElementType::kInt16:
        return TensorOf<std::int16_t>(ElementType::kInt16, shape, *ints);
      case ElementType::kInt32:
        return TensorOf<std::int32_t>(ElementType::kInt32, shape, *ints);
      case ElementType::kInt64:
        return TensorOf<std::int64_t>(ElementType::kInt64, shape, *ints);
      default:
        return std::nullopt;
    }
  }
  if (const auto* floats = std::get_if<Floats>(&value)) {
    const Shape shape = is_scalar ? Shape() : Shape{static_cast<std::int64_t>(floats->size())};
    if (is_scalar && floats->size() != 1) return std::nullopt;
    switch (wanted.value_or(ElementType::kFloat32)) {
      case ElementType::kFloat32:
        return TensorOf<float>(ElementType::kFloat32, shape, *floats);
      case ElementType::kFloat64:
        return TensorOf<double>(ElementType::kFloat64, shape, *floats);
      case ElementType::kFloat16:
        return TensorOf<Float16>(ElementType::kFloat16, shape, *floats);
      case ElementType::kBFloat16:
        return TensorOf<BFloat16>(ElementType::kBFloat16, shape, *floats);
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

void AddAttribute(const Attributes::Entry& entry, onnx::NodeProto* node) {
  onnx::AttributeProto* proto = node->add_attribute();
  proto->set_name(entry.first);
  if (const auto* integer = std::get_if<std::int64_t>(&entry.second)) {
    proto->set_type(onnx::AttributeProto::INT);
    proto->set_i(*integer);
  } else if (const auto* number = std::get_if<float>(&entry.second)) {
    proto->set_type(onnx::AttributeProto::FLOAT);
    proto->set_f(*number);
  } else if (const auto* text = std::get_if<std::string>(&entry.second)) {
    proto->set_type(onnx::AttributeProto::STRING);
    proto->set_s(*text);
  } else if (const auto* ints = std::get_if<Ints>(&entry.second)) {
    proto->set_type(onnx::AttributeProto::INTS);
    proto->mutable_ints()->Assign(ints->begin(), ints->end());
  } else if (const auto* floats = std::get_if<Floats>(&entry.second)) {
    proto->set_type(onnx::AttributeProto::FLOATS);
    proto->mutable_floats()->Assign(floats->begin(), floats->end());
  } else if (const auto* strings = std::get_if<Strings>(&entry.second)) {
    proto->set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& string : *strings) proto->add_strings(string);
  } else {
    proto->set_type(onnx::AttributeProto::TENSOR);
    frontend::TensorToProto(std::get<Tensor>(entry.second), proto->mutable_t());
  }
}

/// The opset whose operators first took the type.
int FirstOpset(ElementType element) {
  switch (element) {
    case ElementType::kFloat8E4M3FN:
    case ElementType::kFloat8E4M3FNUZ:
    case ElementType::kFloat8E5M2:
    case ElementType::kFloat8E5M2FNUZ:
      return 19;
    case ElementType::kInt4:
    case ElementType::kUint4:
      return 21;
    case ElementType::kFloat4E2M1:
      return 23;
    case ElementType::kFloat8E8M0:
      return 24;
    case ElementType::kInt2:
    case ElementType::kUint2:
      return 25;
    default:
      return 1;
  }
}

absl::Status CheckElements(const OnnxNode& node, int opset) {
  for (const auto* values : {&node.inputs, &node.outputs}) {
    for (const OnnxValue& value : *values) {
      const ElementType element = value.type.element;
      if (opset >= FirstOpset(element)) continue;
      return absl::UnimplementedError(std::string(ElementName(element)) + " needs opset " +
                                      std::to_string(FirstOpset(element)));
    }
  }
  return absl::OkStatus();
}

/// The types ONNX's own tables allow, for the opsets they know.
absl::Status CheckTypes(const onnx::OpSchema& schema, const OnnxNode& node,
                        const std::vector<OnnxValue>& inputs) {
  const auto& formal = schema.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name.empty() || !inputs[i].type.defined()) continue;
    const auto& allowed = formal[std::min(i, formal.size() - 1)].GetTypes();
    onnx::TypeProto proto;
    proto.mutable_tensor_type()->set_elem_type(static_cast<int>(inputs[i].type.element));
    if (allowed.count(onnx::Utils::DataTypeUtils::ToType(proto)) == 0) {
      return absl::UnimplementedError(node.op + " takes no " +
                                      std::string(ElementName(inputs[i].type.element)) +
                                      " as input " + std::to_string(i));
    }
  }
  return absl::OkStatus();
}

/// Checks the node against ONNX's own tables and drops attributes that its form does not have but
/// that say nothing.
absl::Status FitSchema(int opset, OnnxNode& node, const std::vector<OnnxValue>& inputs) {
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(node.op, opset, "");
  if (schema == nullptr || schema->Deprecated()) {
    return absl::UnimplementedError("there is no " + node.op);
  }
  const std::vector<Attributes::Entry> entries = node.attributes.entries();
  for (const Attributes::Entry& entry : entries) {
    if (schema->attributes().count(entry.first) > 0) continue;
    if (!IsHarmless(entry)) {
      return absl::UnimplementedError(node.op + " has no attribute " + ToString(entry));
    }
    node.attributes.erase(entry.first);
  }
  if (static_cast<int>(inputs.size()) > schema->max_input() ||
      static_cast<int>(node.outputs.size()) > schema->max_output()) {
    return absl::UnimplementedError(node.op + " has fewer inputs or outputs");
  }
  return CheckTypes(*schema, node, inputs);
}

}  // namespace

OnnxValue OnnxNodeWriter::Constant(const std::string& name, const Tensor& tensor) {
  return {.name = constants_.Share(name, tensor), .type = tensor.type()};
}

OnnxValue OnnxNodeWriter::Emit(const std::string& name, const std::string& op,
                               std::vector<OnnxValue> inputs, TensorType type,
                               Attributes attributes, absl::Status& status) {
  const std::string unique = names_.Unique(name);
  OnnxValue output{.name = unique + ":0", .type = std::move(type)};
  names_.Take(output.name);
  status.Update(Write({.name = unique,
                       .op = op,
                       .inputs = std::move(inputs),
                       .outputs = {output},
                       .attributes = std::move(attributes)}));
  return output;
}

absl::Status OnnxNodeWriter::Write(OnnxNode node) {
  if (absl::Status status = Downgrade(node, *this); !status.ok()) return status;
  return WriteForm(std::move(node));
}

absl::StatusOr<OnnxValue> OnnxNodeWriter::StaticInputOf(const ops::OpDef& def,
                                                        const ops::StaticInput& input,
                                                        OnnxNode& node) {
  const std::string attribute(input.attribute);
  const AttributeValue* value = node.attributes.find(attribute);
  if (value == nullptr || opset_ < input.input_since) return OnnxValue();
  std::optional<ElementType> wanted;
  for (const ops::StaticInput& other : def.static_inputs) {
    const std::int64_t number =
        other.type_attribute.empty() ? 0 : node.attributes.get_int(other.type_attribute, 0);
    if (number != 0) wanted = static_cast<ElementType>(number);
  }
  const auto tensor = StaticTensor(*value, IsScalar(node.op, attribute), wanted);
  if (!tensor) {
    return absl::UnimplementedError("attribute " + ToString({attribute, *value}) +
                                    " cannot become an input");
  }
  node.attributes.erase(attribute);
  return Constant(node.name + "/" + attribute, *tensor);
}

absl::StatusOr<std::vector<OnnxValue>> OnnxNodeWriter::InputsOf(const ops::OpDef& def,
                                                                OnnxNode& node) {
  std::vector<OnnxValue> inputs;
  auto operand = node.inputs.begin();
  auto next = def.static_inputs.begin();
  while (operand != node.inputs.end() || next != def.static_inputs.end()) {
    if (next != def.static_inputs.end() && next->index == inputs.size()) {
      absl::StatusOr<OnnxValue> value = StaticInputOf(def, *next++, node);
      if (!value.ok()) return value.status();
      inputs.push_back(*std::move(value));
    } else {
      inputs.push_back(operand != node.inputs.end() ? *operand++ : OnnxValue());
    }
  }
  for (const ops::StaticInput& input : def.static_inputs) {
    if (!input.type_attribute.empty()) node.attributes.erase(input.type_attribute);
  }
  while (!inputs.empty() && inputs.back().name.empty()) inputs.pop_back();
  return inputs;
}

absl::Status OnnxNodeWriter::WriteForm(OnnxNode node) {
  const ops::OpDef* def = ops::FindOp(node.op);
  if (def == nullptr || def->since > ops::kNewestOpset) {
    return absl::UnimplementedError("ONNX has no " + node.op);
  }
  const bool is_default = def->domain.empty();
  if (is_default && def->since > opset_) {
    return absl::UnimplementedError(node.op + " needs opset " + std::to_string(def->since));
  }
  if (absl::Status status = CheckElements(node, opset_); !status.ok()) return status;
  absl::StatusOr<std::vector<OnnxValue>> inputs = InputsOf(*def, node);
  if (!inputs.ok()) return inputs.status();
  if (is_default && opset_ <= kDefaultExportOpset) {
    if (absl::Status status = FitSchema(opset_, node, *inputs); !status.ok()) return status;
  }
  onnx::NodeProto* proto = scope_->add_node();
  proto->set_name(node.name);
  proto->set_op_type(node.op);
  if (!is_default) proto->set_domain(std::string(def->domain));
  for (const OnnxValue& input : *inputs) proto->add_input(input.name);
  for (const OnnxValue& output : node.outputs) proto->add_output(output.name);
  for (const Attributes::Entry& entry : node.attributes.entries()) AddAttribute(entry, proto);
  return absl::OkStatus();
}

}  // namespace poprt::emit
