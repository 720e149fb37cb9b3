#include "compiler/frontend/import_time/import_time_op.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "compiler/frontend/import_time/import_time_call.hpp"
#include "compiler/frontend/opset_imports.hpp"
#include "compiler/frontend/static_input.hpp"

namespace poprt::frontend {
namespace {

/// Ordered by name.
const std::vector<ImportTimeOp>& Rows() {
  static const std::vector<ImportTimeOp> rows = [] {
    std::vector<ImportTimeOp> joined;
    for (const auto topic : {
             ConstantImportOps(),
             GradientImportOps(),
             LabelEncoderImportOps(),
             LinearAttentionImportOps(),
             OptionalImportOps(),
             SequenceImportOps(),
             StringCastImportOps(),
             StringImportOps(),
             StringMovementImportOps(),
             TfIdfImportOps(),
         }) {
      joined.insert(joined.end(), topic.begin(), topic.end());
    }
    std::sort(joined.begin(), joined.end(),
              [](const ImportTimeOp& a, const ImportTimeOp& b) { return a.name < b.name; });
    return joined;
  }();
  return rows;
}

const ImportTimeOp* FindRow(std::string_view name, std::string_view domain) {
  const auto& rows = Rows();
  const auto found =
      std::lower_bound(rows.begin(), rows.end(), name,
                       [](const ImportTimeOp& row, std::string_view op) { return row.name < op; });
  return found != rows.end() && found->name == name && found->domain == domain ? &*found : nullptr;
}

const ImportTimeOp* FindRow(const NodeImport& import) {
  return FindRow(import.node.op_type(), NormalizedDomain(import.node.domain()));
}

absl::Status Compute(const ImportTimeOp& op, GraphImporter& importer, NodeImport& import) {
  ImportTimeCall call(importer, import);
  std::vector<ImportValue> results = op.compute(call);
  const auto& names = import.node.output();
  RequireImport(static_cast<std::size_t>(names.size()) <= results.size(),
                "has " + std::to_string(names.size()) + " outputs, the operator has " +
                    std::to_string(results.size()));
  for (int i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) {
      import.builder.DefineValue(names[i], std::move(results[static_cast<std::size_t>(i)]));
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool IsImportTimeOp(std::string_view name, std::string_view domain) {
  return FindRow(name, domain) != nullptr;
}

std::vector<std::string> ImportTimeOps() {
  std::vector<std::string> names;
  for (const ImportTimeOp& row : Rows()) {
    if (row.applies != Always) continue;
    names.push_back((row.domain.empty() ? "" : std::string(row.domain) + ".") +
                    std::string(row.name));
  }
  return names;
}

bool IsImportTime(const NodeImport& import) {
  const ImportTimeOp* op = FindRow(import);
  return op != nullptr && op->applies(import);
}

absl::Status ImportAtImportTime(GraphImporter& importer, NodeImport& import) {
  try {
    return Compute(*FindRow(import), importer, import);
  } catch (const ImportTimeError& error) {
    return error.status;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

void FailImport(const std::string& message) {
  throw ImportTimeError{absl::InvalidArgumentError(message)};
}

void RequireImport(bool condition, const std::string& message) {
  if (!condition) FailImport(message);
}

const ImportValue* ImportTimeCall::input(std::size_t i) const {
  return i < import.inputs.size() && import.inputs[i] ? &*import.inputs[i] : nullptr;
}

const ImportValue& ImportTimeCall::required(std::size_t i) const {
  const ImportValue* value = input(i);
  RequireImport(value != nullptr, "input " + std::to_string(i) + " is missing");
  return *value;
}

void ImportTimeCall::WrongInput(std::size_t i, const std::string& wanted) const {
  FailImport("input " + std::to_string(i) + " is " + Describe(required(i), graph()) +
             ", it must be " + wanted);
}

const ImportValue::Sequence& ImportTimeCall::sequence(std::size_t i) const {
  const ImportValue::Sequence* sequence = required(i).sequence();
  if (sequence == nullptr) WrongInput(i, "a sequence");
  return *sequence;
}

const StringTensor& ImportTimeCall::strings(std::size_t i) const {
  const StringTensor* strings = required(i).strings();
  if (strings == nullptr) WrongInput(i, "a tensor of strings");
  return *strings;
}

ir::ValueId ImportTimeCall::tensor(std::size_t i) const {
  const ir::ValueId* tensor = required(i).tensor();
  if (tensor == nullptr) WrongInput(i, "a tensor of numbers");
  return *tensor;
}

Ints ImportTimeCall::constant_ints(std::size_t i, std::string_view what) const {
  const ir::ValueId id = tensor(i);
  const TensorType& type = graph().type(id);
  if (type.element != ElementType::kInt64 && type.element != ElementType::kInt32) {
    WrongInput(i, "of int32 or int64");
  }
  const Tensor* constant = graph().ConstantOf(id);
  RequireImport(constant != nullptr,
                "input " + std::to_string(i) + " (" + std::string(what) +
                    ") is computed at run time, but must be known when compiling; freeze the value "
                    "or what it is computed from");
  return std::get<Ints>(*StaticValue(*constant));
}

std::int64_t ImportTimeCall::constant_int(std::size_t i, std::string_view what) const {
  const Ints values = constant_ints(i, what);
  if (values.size() != 1) WrongInput(i, "one number");
  return values[0];
}

void ImportTimeCall::RequireInputs(std::size_t min, std::size_t max) const {
  RequireImport(input_count() >= min && input_count() <= max,
                "has " + std::to_string(input_count()) + " inputs, allowed are " +
                    std::to_string(min) + (max == min ? "" : " to " + std::to_string(max)));
}

ir::ValueId ImportTimeCall::Add(const std::string& suffix, const std::string& op,
                                std::vector<ir::ValueId> inputs, Attributes node_attributes) const {
  absl::StatusOr<ir::ValueId> added = import.builder.Add(
      import.name + "/" + suffix, op, std::move(inputs), std::move(node_attributes));
  if (!added.ok()) throw ImportTimeError{added.status()};
  return *added;
}

ir::ValueId ImportTimeCall::AddConstant(const std::string& suffix, Tensor tensor) const {
  return import.builder.AddConstant(import.name + "/" + suffix, std::move(tensor));
}

void ImportTimeCall::CountStrings(const std::vector<std::string>& strings) const {
  std::uint64_t bytes = 0;
  for (const std::string& string : strings) bytes += sizeof(std::string) + string.size();
  CountStringBytes(bytes);
}

void ImportTimeCall::CountStringBytes(std::uint64_t bytes) const {
  RequireImport(importer.CountStringBytes(bytes),
                "its result would make the strings of the model larger than 1 GiB");
}

bool Always(const NodeImport& /*import*/) { return true; }

bool HasNonTensor(const NodeImport& import) {
  return std::any_of(import.inputs.begin(), import.inputs.end(),
                     [](const auto& input) { return input && input->tensor() == nullptr; });
}

ImportValue BoolScalar(ImportTimeCall& call, bool value) {
  Tensor scalar({ElementType::kBool, {}});
  scalar.as_mutable<std::uint8_t>()[0] = value ? 1 : 0;
  return {call.AddConstant("result", std::move(scalar))};
}

ImportValue IntScalar(ImportTimeCall& call, std::int64_t value) {
  return {call.AddConstant("result", Tensor({ElementType::kInt64, {}}, &value))};
}

}  // namespace poprt::frontend
