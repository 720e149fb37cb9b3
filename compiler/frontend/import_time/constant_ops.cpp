#include <onnx/onnx_pb.h>

#include <string>
#include <utility>

#include "compiler/frontend/import_time/import_time_call.hpp"
#include "compiler/frontend/proto/value_proto.hpp"

namespace poprt::frontend {
namespace {

/// True for constants that Attributes do not hold: strings and sparse tensors.
bool IsStringOrSparse(const NodeImport& import) {
  if (import.node.attribute_size() != 1) return false;
  const onnx::AttributeProto& attribute = import.node.attribute(0);
  if (attribute.name() == "value") {
    return attribute.t().data_type() == onnx::TensorProto::STRING;
  }
  return attribute.name() == "value_string" || attribute.name() == "value_strings" ||
         attribute.name() == "sparse_value";
}

std::vector<ImportValue> Constant(ImportTimeCall& call) {
  call.RequireInputs(0, 0);
  const std::string& name = call.import.node.attribute(0).name();
  const onnx::AttributeProto& attribute = *call.attributes.find(name);
  if (name == "value_string") {
    return {{StringTensor{{}, {call.attributes.get_string(name, "")}}}};
  }
  if (name == "value_strings") {
    StringTensor strings{{}, call.attributes.get_strings(name)};
    strings.shape = {static_cast<std::int64_t>(strings.elements.size())};
    return {{std::move(strings)}};
  }
  const absl::StatusOr<HostValue> value =
      name == "value" ? ValueFromProto(attribute.t(), &call.importer.external())
                      : ValueFromProto(attribute.sparse_tensor(), &call.importer.external());
  if (!value.ok()) {
    throw ImportTimeError{
        absl::Status(value.status().code(),
                     "attribute '" + name + "' " + std::string(value.status().message()))};
  }
  if (value->strings() != nullptr) {
    call.CountStrings(value->strings()->elements);
    return {{*value->strings()}};
  }
  return {{call.AddConstant("value", *value->tensor())}};
}

constexpr ImportTimeOp kRows[] = {{"Constant", "", IsStringOrSparse, Constant}};

}  // namespace

std::span<const ImportTimeOp> ConstantImportOps() { return kRows; }

}  // namespace poprt::frontend
