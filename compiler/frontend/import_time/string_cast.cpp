#include <onnx/onnx_pb.h>

#include <cstdint>
#include <utility>

#include "compiler/frontend/import_time/import_time_call.hpp"
#include "compiler/frontend/import_time/string_number.hpp"
#include "compiler/frontend/proto/tensor_proto.hpp"

namespace poprt::frontend {
namespace {

bool CastsStrings(const NodeImport& import) {
  if (HasNonTensor(import)) return true;
  for (const onnx::AttributeProto& attribute : import.node.attribute()) {
    if (attribute.name() == "to" && attribute.i() == onnx::TensorProto::STRING) return true;
    // Before opset 6 the type was written out.
    if (attribute.name() == "to" && attribute.s() == "STRING") return true;
  }
  return false;
}

ImportValue ToStrings(const ImportTimeCall& call) {
  if (call.required(0).strings() != nullptr) return call.required(0);
  const Tensor* constant = call.graph().ConstantOf(call.tensor(0));
  RequireImport(constant != nullptr,
                "makes strings of a tensor that is computed at run time, but strings do not "
                "survive to run time; freeze the inputs that it is computed from");
  StringTensor strings = NumbersToStrings(*constant);
  call.CountStrings(strings.elements);
  return {std::move(strings)};
}

ImportValue ToNumbers(const ImportTimeCall& call, ElementType element) {
  return {call.AddConstant("numbers", StringsToNumbers(call.strings(0), element))};
}

/// The wanted type, which opsets before 6 spell out.
int TargetOf(const ImportTimeCall& call) {
  const onnx::AttributeProto* to = call.attributes.find("to");
  if (to == nullptr) throw ImportTimeError{absl::InvalidArgumentError("attribute 'to' is missing")};
  if (to->s().empty()) return static_cast<int>(call.attributes.get_int("to", 0));
  onnx::TensorProto::DataType type = onnx::TensorProto::UNDEFINED;
  RequireImport(onnx::TensorProto::DataType_Parse(to->s(), &type),
                "attribute 'to' is '" + to->s() + "', which is no element type");
  return type;
}

std::vector<ImportValue> Cast(ImportTimeCall& call) {
  call.RequireInputs(1, 1);
  const int to = TargetOf(call);
  if (to == onnx::TensorProto::STRING) return {ToStrings(call)};
  const absl::StatusOr<ElementType> element = ElementTypeFromProto(to);
  if (!element.ok()) throw ImportTimeError{element.status()};
  return {ToNumbers(call, *element)};
}

std::vector<ImportValue> CastLike(ImportTimeCall& call) {
  call.RequireInputs(2, 2);
  if (call.required(1).strings() != nullptr) return {ToStrings(call)};
  return {ToNumbers(call, call.graph().type(call.tensor(1)).element)};
}

constexpr ImportTimeOp kRows[] = {
    {"Cast", "", CastsStrings, Cast},
    {"CastLike", "", HasNonTensor, CastLike},
};

}  // namespace

std::span<const ImportTimeOp> StringCastImportOps() { return kRows; }

}  // namespace poprt::frontend
