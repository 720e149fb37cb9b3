#include "compiler/frontend/import_time/import_time_call.hpp"

namespace poprt::frontend {
namespace {

std::vector<ImportValue> Optional(ImportTimeCall& call) {
  call.RequireInputs(0, 1);
  ImportValue::Optional optional;
  if (call.input(0) != nullptr) {
    if (call.input(0)->optional() != nullptr) call.WrongInput(0, "a tensor or sequence");
    optional.element.push_back(*call.input(0));
  }
  return {{std::move(optional)}};
}

std::vector<ImportValue> OptionalHasElement(ImportTimeCall& call) {
  call.RequireInputs(0, 1);
  const ImportValue* input = call.input(0);
  const bool is_empty =
      input == nullptr || (input->optional() != nullptr && input->optional()->element.empty());
  return {BoolScalar(call, !is_empty)};
}

std::vector<ImportValue> OptionalGetElement(ImportTimeCall& call) {
  call.RequireInputs(1, 1);
  const ImportValue& input = call.required(0);
  if (input.optional() == nullptr) return {input};
  RequireImport(!input.optional()->element.empty(), "input 0 is an empty optional");
  return {input.optional()->element.front()};
}

std::vector<ImportValue> Identity(ImportTimeCall& call) {
  call.RequireInputs(1, 1);
  return {call.required(0)};
}

constexpr ImportTimeOp kRows[] = {
    {"Identity", "", HasNonTensor, Identity},
    {"Optional", "", Always, Optional},
    {"OptionalGetElement", "", Always, OptionalGetElement},
    {"OptionalHasElement", "", Always, OptionalHasElement},
};

}  // namespace

std::span<const ImportTimeOp> OptionalImportOps() { return kRows; }

}  // namespace poprt::frontend
