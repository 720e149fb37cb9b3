#include <onnx/onnx_pb.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "compiler/frontend/import_time/import_time_call.hpp"
#include "compiler/frontend/import_time/string_pool.hpp"

namespace poprt::frontend {
namespace {

/// Bit i stands for operand i.
using Operands = std::uint32_t;
constexpr Operands kNone = 0;
constexpr Operands kAll = std::numeric_limits<Operands>::max();

/// An operator that moves or compares elements without looking into them: numbers may stand for
/// strings.
struct Movement {
  std::string_view op;
  Operands inputs;   ///< those that are strings
  Operands outputs;  ///< those that are strings again
};

constexpr Movement kMovements[] = {
    {"Compress", 0b1, 0b1},     {"Concat", kAll, 0b1},
    {"DepthToSpace", 0b1, 0b1}, {"Equal", 0b11, kNone},
    {"Expand", 0b1, 0b1},       {"Flatten", 0b1, 0b1},
    {"Gather", 0b1, 0b1},       {"GatherElements", 0b1, 0b1},
    {"GatherND", 0b1, 0b1},     {"OneHot", 0b100, 0b1},
    {"Reshape", 0b1, 0b1},      {"ReverseSequence", 0b1, 0b1},
    {"Scatter", 0b101, 0b1},    {"ScatterElements", 0b101, 0b1},
    {"ScatterND", 0b101, 0b1},  {"Shape", 0b1, kNone},
    {"Size", 0b1, kNone},       {"Slice", 0b1, 0b1},
    {"SpaceToDepth", 0b1, 0b1}, {"Split", 0b1, kAll},
    {"Squeeze", 0b1, 0b1},      {"Tile", 0b1, 0b1},
    {"Transpose", 0b1, 0b1},    {"Unique", 0b1, 0b1},
    {"Unsqueeze", 0b1, 0b1},    {"Where", 0b110, 0b1},
};

bool Has(Operands operands, std::size_t i) {
  constexpr std::size_t bits = std::numeric_limits<Operands>::digits;
  return i < bits ? ((operands >> i) & 1U) != 0 : operands == kAll;
}

const Movement& MovementOf(const std::string& op) {
  for (const Movement& movement : kMovements) {
    if (movement.op == op) return movement;
  }
  FailImport("operator without a row");
}

std::vector<ImportValue> MoveStrings(ImportTimeCall& call) {
  const Movement& movement = MovementOf(call.import.node.op_type());
  auto& inputs = call.import.inputs;
  std::vector<const StringTensor*> tensors;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    if (Has(movement.inputs, i)) {
      tensors.push_back(&call.strings(i));
    } else if (inputs[i]->tensor() == nullptr) {
      call.WrongInput(i, "a tensor of numbers");
    }
  }
  const StringPool pool(tensors);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] || !Has(movement.inputs, i)) continue;
    Tensor numbers = pool.Encode(*inputs[i]->strings());
    inputs[i] = ImportValue{call.AddConstant("strings_" + std::to_string(i), std::move(numbers))};
  }
  if (absl::Status status = call.importer.ImportOperator(call.import); !status.ok()) {
    throw ImportTimeError{status};
  }
  std::vector<ImportValue> results;
  for (int i = 0; i < call.import.node.output_size(); ++i) {
    const std::string& name = call.import.node.output(i);
    const ImportValue* result = name.empty() ? nullptr : call.import.builder.FindValue(name);
    if (result == nullptr || !Has(movement.outputs, static_cast<std::size_t>(i))) {
      results.push_back(result == nullptr ? ImportValue{} : *result);
      continue;
    }
    const Tensor* numbers = call.graph().ConstantOf(*result->tensor());
    RequireImport(numbers != nullptr,
                  "output '" + name +
                      "' is of strings and not known when compiling, but strings do not survive to "
                      "run time; freeze the inputs that it is computed from");
    StringTensor strings = pool.Decode(*numbers);
    call.CountStrings(strings.elements);
    results.push_back({std::move(strings)});
  }
  return results;
}

}  // namespace

std::span<const ImportTimeOp> StringMovementImportOps() {
  static const std::vector<ImportTimeOp> rows = [] {
    std::vector<ImportTimeOp> all;
    for (const Movement& movement : kMovements) {
      all.push_back({movement.op, "", HasNonTensor, MoveStrings});
    }
    return all;
  }();
  return rows;
}

}  // namespace poprt::frontend
