#include "compiler/ops/op.hpp"

#include <exception>
#include <limits>

#include "absl/status/status.h"
#include "compiler/ops/inference.hpp"

namespace poprt::ops {
namespace {

std::string_view Describe(TypeSet set) {
  switch (set) {
    case TypeSet::kAll:
      return "of any type";
    case TypeSet::kNumeric:
      return "numbers";
    case TypeSet::kSigned:
      return "floats or signed integers";
    case TypeSet::kFloat:
      return "floats";
    case TypeSet::kInteger:
      return "integers";
    case TypeSet::kUnsigned:
      return "unsigned integers";
    case TypeSet::kBool:
      return "bool";
  }
  return "";
}

void CheckCount(std::size_t found, const Arity& arity, std::string_view what) {
  if (found >= arity.min && found <= arity.max) return;
  const std::string most = arity.max == kAnyNumber  ? " or more"
                           : arity.max == arity.min ? ""
                                                    : " to " + std::to_string(arity.max);
  Fail({"has ", Text(found), " ", Text(what), ", allowed are ", Text(arity.min), most});
}

bool IsUnsigned(ElementType type) {
  return type == ElementType::kUint8 || type == ElementType::kUint16 ||
         type == ElementType::kUint32 || type == ElementType::kUint64;
}

bool FitsMemory(const TensorType& type) {
  const auto count = CheckedElementCount(type.shape);
  const auto size = static_cast<std::int64_t>(ElementSize(type.element));
  return count && size > 0 && *count <= std::numeric_limits<std::int64_t>::max() / size;
}

void CheckOperands(const OpDef& op, const InferenceCall& call) {
  CheckCount(call.inputs.size(), op.inputs, "inputs");
  CheckCount(call.outputs, op.outputs, "outputs");
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const TensorType& type = call.inputs[i];
    const bool optional = i >= op.inputs.min && op.inputs.max != kAnyNumber;
    Require(type.defined() || optional, "input ", i, " is missing");
    Require(!type.defined() || FitsMemory(type), "input ", i, " is ", type,
            ", which is not a valid type");
  }
  Require(call.inputs.empty() || Contains(op.types, call.inputs[0].element), "input 0 is ",
          call.input(0), ", its elements must be ", Describe(op.types));
}

Types CheckedInfer(const OpDef& op, const InferenceCall& call) {
  CheckOperands(op, call);
  Types types = op.infer(call);
  Require(types.size() >= call.outputs, "has ", call.outputs, " outputs, its form has ",
          types.size());
  types.resize(call.outputs);
  for (std::size_t i = 0; i < types.size(); ++i) {
    Require(FitsMemory(types[i]), "output ", i, " would be ", types[i], ", which is too large");
  }
  return types;
}

}  // namespace

const TensorType& InferenceCall::input(std::size_t i) const {
  static const TensorType absent;
  return i < inputs.size() ? inputs[i] : absent;
}

absl::StatusOr<std::vector<TensorType>> InferTypes(const OpDef& op, const InferenceCall& call) {
  try {
    if (call.inputs.empty() || call.inputs.back().defined()) return CheckedInfer(op, call);
    InferenceCall trimmed = call;
    while (!trimmed.inputs.empty() && !trimmed.inputs.back().defined()) trimmed.inputs.pop_back();
    return CheckedInfer(op, trimmed);
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

bool Contains(TypeSet set, ElementType type) {
  switch (set) {
    case TypeSet::kAll:
      return type != ElementType::kUndefined;
    case TypeSet::kNumeric:
      return IsFloat(type) || IsInteger(type);
    case TypeSet::kSigned:
      return IsFloat(type) || (IsInteger(type) && !IsUnsigned(type));
    case TypeSet::kFloat:
      return IsFloat(type);
    case TypeSet::kInteger:
      return IsInteger(type);
    case TypeSet::kUnsigned:
      return IsUnsigned(type);
    case TypeSet::kBool:
      return type == ElementType::kBool;
  }
  return false;
}

}  // namespace poprt::ops
