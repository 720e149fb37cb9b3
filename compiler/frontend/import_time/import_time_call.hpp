#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "compiler/frontend/graph_importer.hpp"
#include "compiler/frontend/import_time/node_attributes.hpp"
#include "compiler/frontend/import_value.hpp"
#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/tensor.hpp"

namespace poprt::frontend {

/// Thrown by the rules of operators that are computed at import and turned into a status by
/// ImportAtImportTime; `status` does not name the node, and is ok when the problems of the import
/// already have what is wrong.
struct ImportTimeError {
  absl::Status status;
};

/// Throws an InvalidArgument.
[[noreturn]] void FailImport(const std::string& message);
void RequireImport(bool condition, const std::string& message);

/// What a rule sees of the node and adds to the graph. All accessors throw ImportTimeError where
/// the node does not have what they are asked for.
class ImportTimeCall {
 public:
  ImportTimeCall(GraphImporter& graph_importer, NodeImport& node_import)
      : importer(graph_importer), import(node_import), attributes(node_import.node) {}

  GraphImporter& importer;
  NodeImport& import;
  const NodeAttributes attributes;

  const ir::Graph& graph() const { return import.builder.graph(); }

  std::size_t input_count() const { return import.inputs.size(); }
  /// Null when the input is absent.
  const ImportValue* input(std::size_t i) const;
  const ImportValue& required(std::size_t i) const;
  const ImportValue::Sequence& sequence(std::size_t i) const;
  const StringTensor& strings(std::size_t i) const;
  ir::ValueId tensor(std::size_t i) const;
  /// The elements of a tensor of int32 or int64 that is known; `what` names it in messages.
  Ints constant_ints(std::size_t i, std::string_view what) const;
  /// As constant_ints, of a tensor with one element.
  std::int64_t constant_int(std::size_t i, std::string_view what) const;

  /// Throws unless the node has as many inputs, absent ones included.
  void RequireInputs(std::size_t min, std::size_t max) const;

  /// A node in its newest form, or the constant that it computes, called after this one.
  ir::ValueId Add(const std::string& suffix, const std::string& op, std::vector<ir::ValueId> inputs,
                  Attributes node_attributes) const;
  ir::ValueId AddConstant(const std::string& suffix, Tensor tensor) const;

  /// Counts bytes of strings against what one model may make; throws when that is used up.
  void CountStringBytes(std::uint64_t bytes) const;
  void CountStrings(const std::vector<std::string>& strings) const;

  /// The problem with input i being what it is.
  [[noreturn]] void WrongInput(std::size_t i, const std::string& wanted) const;
};

/// One operator that is computed while importing, always or for some of its inputs.
struct ImportTimeOp {
  std::string_view name;
  std::string_view domain;
  /// Whether this rule is for the node; otherwise it is an ordinary operator.
  bool (*applies)(const NodeImport& import);
  /// The values of the outputs, as many as the operator has.
  std::vector<ImportValue> (*compute)(ImportTimeCall& call);
};

/// For `applies`: every node; nodes with an input that is no tensor of numbers.
bool Always(const NodeImport& import);
bool HasNonTensor(const NodeImport& import);

/// A constant of the graph with one bool or int64.
ImportValue BoolScalar(ImportTimeCall& call, bool value);
ImportValue IntScalar(ImportTimeCall& call, std::int64_t value);

// The operators by topic, joined in import_time_op.cpp.
std::span<const ImportTimeOp> ConstantImportOps();
std::span<const ImportTimeOp> GradientImportOps();
std::span<const ImportTimeOp> LabelEncoderImportOps();
std::span<const ImportTimeOp> LinearAttentionImportOps();
std::span<const ImportTimeOp> OptionalImportOps();
std::span<const ImportTimeOp> SequenceImportOps();
std::span<const ImportTimeOp> StringCastImportOps();
std::span<const ImportTimeOp> StringImportOps();
std::span<const ImportTimeOp> StringMovementImportOps();
std::span<const ImportTimeOp> TfIdfImportOps();

}  // namespace poprt::frontend
